//! What the examples share: OpenGL without its headers, found when the program runs.
#![allow(dead_code, reason = "each example uses its part")]
#![expect(unsafe_code, reason = "OpenGL is a C interface")]

use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// A result of whatever can go wrong.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A library that is loaded for the life of the program.
struct Library(*mut c_void);

impl Library {
    fn open(name: &CStr) -> Result<Library> {
        const NOW: c_int = 2;
        // SAFETY: the name is a string.
        let library = unsafe { dlopen(name.as_ptr(), NOW) };
        match library.is_null() {
            true => Err(format!("there is no {}", name.to_string_lossy()).into()),
            false => Ok(Library(library)),
        }
    }

    fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the library is loaded and the name is a string.
        unsafe { dlsym(self.0, name.as_ptr()) }
    }
}

/// Declares a table of functions with safe methods; what they do with their arguments is checked by the driver, and pointers are made
/// by the wrappers below alone.
macro_rules! functions {
    ($table:ident: $( $method:ident = $name:literal ( $($argument:ident: $kind:ty),* ) $(-> $result:ty)?; )*) => {
        /// Functions, by their names without the prefix.
        pub(crate) struct $table { $( $method: unsafe extern "C" fn($($kind),*) $(-> $result)?, )* }

        impl $table {
            fn load(find: impl Fn(&CStr) -> *mut c_void) -> Result<$table> {
                Ok($table { $( $method: {
                    let address = find($name);
                    if address.is_null() {
                        return Err(format!("there is no {}", $name.to_string_lossy()).into());
                    }
                    // SAFETY: a function of that name has that type.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(address) }
                }, )* })
            }

            $(
                #[doc = concat!("`", stringify!($method), "`.")]
                pub(crate) fn $method(&self, $($argument: $kind),*) $(-> $result)? {
                    // SAFETY: the callers in this module pass pointers to what the function reads or fills.
                    unsafe { (self.$method)($($argument),*) }
                }
            )*
        }
    };
}

functions! { Egl:
    get_platform_display = c"eglGetPlatformDisplay"(platform: u32, display: *mut c_void, attributes: *const isize) -> *mut c_void;
    initialize = c"eglInitialize"(display: *mut c_void, major: *mut i32, minor: *mut i32) -> u32;
    bind_api = c"eglBindAPI"(api: u32) -> u32;
    create_context = c"eglCreateContext"(display: *mut c_void, config: *mut c_void, share: *mut c_void, attributes: *const i32) -> *mut c_void;
    make_current = c"eglMakeCurrent"(display: *mut c_void, draw: *mut c_void, read: *mut c_void, context: *mut c_void) -> u32;
    destroy_context = c"eglDestroyContext"(display: *mut c_void, context: *mut c_void) -> u32;
    terminate = c"eglTerminate"(display: *mut c_void) -> u32;
    get_proc_address = c"eglGetProcAddress"(name: *const c_char) -> *mut c_void;
}

functions! { Functions:
    get_string = c"glGetString"(name: u32) -> *const c_char;
    get_error = c"glGetError"() -> u32;
    create_shader = c"glCreateShader"(kind: u32) -> u32;
    shader_source = c"glShaderSource"(shader: u32, count: i32, text: *const *const c_char, lengths: *const i32);
    compile_shader = c"glCompileShader"(shader: u32);
    create_program = c"glCreateProgram"() -> u32;
    attach_shader = c"glAttachShader"(program: u32, shader: u32);
    transform_feedback_varyings = c"glTransformFeedbackVaryings"(program: u32, count: i32, names: *const *const c_char, mode: u32);
    link_program = c"glLinkProgram"(program: u32);
    get_program = c"glGetProgramiv"(program: u32, name: u32, value: *mut i32);
    get_program_info_log = c"glGetProgramInfoLog"(program: u32, room: i32, length: *mut i32, log: *mut c_char);
    use_program = c"glUseProgram"(program: u32);
    delete_program = c"glDeleteProgram"(program: u32);
    gen_buffers = c"glGenBuffers"(count: i32, buffers: *mut u32);
    delete_buffers = c"glDeleteBuffers"(count: i32, buffers: *const u32);
    bind_buffer = c"glBindBuffer"(target: u32, buffer: u32);
    bind_buffer_base = c"glBindBufferBase"(target: u32, index: u32, buffer: u32);
    buffer_data = c"glBufferData"(target: u32, bytes: isize, data: *const c_void, usage: u32);
    get_buffer_sub_data = c"glGetBufferSubData"(target: u32, offset: isize, bytes: isize, data: *mut c_void);
    gen_vertex_arrays = c"glGenVertexArrays"(count: i32, arrays: *mut u32);
    bind_vertex_array = c"glBindVertexArray"(array: u32);
    gen_framebuffers = c"glGenFramebuffers"(count: i32, framebuffers: *mut u32);
    bind_framebuffer = c"glBindFramebuffer"(target: u32, framebuffer: u32);
    gen_renderbuffers = c"glGenRenderbuffers"(count: i32, renderbuffers: *mut u32);
    bind_renderbuffer = c"glBindRenderbuffer"(target: u32, renderbuffer: u32);
    renderbuffer_storage = c"glRenderbufferStorage"(target: u32, format: u32, width: i32, height: i32);
    framebuffer_renderbuffer = c"glFramebufferRenderbuffer"(target: u32, attachment: u32, kind: u32, renderbuffer: u32);
    enable = c"glEnable"(capability: u32);
    begin_transform_feedback = c"glBeginTransformFeedback"(mode: u32);
    end_transform_feedback = c"glEndTransformFeedback"();
    draw_arrays = c"glDrawArrays"(mode: u32, first: i32, count: i32);
    provoking_vertex = c"glProvokingVertex"(mode: u32);
    flush = c"glFlush"();
    finish = c"glFinish"();
}

/// `GL_TRANSFORM_FEEDBACK_BUFFER`.
pub(crate) const CAPTURE: u32 = 0x8c8e;

/// `GL_RASTERIZER_DISCARD`.
const DISCARD: u32 = 0x8c89;

/// Kinds of primitives.
pub(crate) const POINTS: u32 = 0;
/// As above.
pub(crate) const TRIANGLES: u32 = 4;
/// As above.
pub(crate) const TRIANGLE_STRIP: u32 = 5;

/// OpenGL 3.3 without a window.
pub(crate) struct Gl {
    egl: Egl,
    display: *mut c_void,
    context: *mut c_void,
    /// The functions.
    pub(crate) functions: Functions,
}

impl Gl {
    /// Makes a context current. Nothing is rasterized in it.
    pub(crate) fn new() -> Result<Gl> {
        const SURFACELESS: u32 = 0x31dd;
        const OPENGL: u32 = 0x30a2;
        const VERSION: [i32; 7] = [0x3098, 3, 0x30fb, 3, 0x30fd, 1, 0x3038];
        let library = Library::open(c"libEGL.so.1")?;
        let egl = Egl::load(|name| library.symbol(name))?;
        let display = egl.get_platform_display(SURFACELESS, ptr::null_mut(), ptr::null());
        let ready =
            egl.initialize(display, ptr::null_mut(), ptr::null_mut()) == 1 && egl.bind_api(OPENGL) == 1;
        let context = egl.create_context(display, ptr::null_mut(), ptr::null_mut(), VERSION.as_ptr());
        if !ready || egl.make_current(display, ptr::null_mut(), ptr::null_mut(), context) != 1 {
            return Err("there is no OpenGL 3.3 without a window".into());
        }
        let functions = Functions::load(|name| egl.get_proc_address(name.as_ptr()))?;
        let gl = Gl { egl, display, context, functions };
        let mut array = 0;
        gl.functions.gen_vertex_arrays(1, &raw mut array);
        gl.functions.bind_vertex_array(array);
        gl.functions.enable(DISCARD);
        gl.make_framebuffer();
        Ok(gl)
    }

    /// OpenGL draws nothing, not even into buffers, without something to draw on.
    fn make_framebuffer(&self) {
        const FRAMEBUFFER: u32 = 0x8d40;
        const RENDERBUFFER: u32 = 0x8d41;
        const FIRST_COLOUR: u32 = 0x8ce0;
        const RGBA8: u32 = 0x8058;
        let (gl, mut framebuffer, mut renderbuffer) = (&self.functions, 0, 0);
        gl.gen_framebuffers(1, &raw mut framebuffer);
        gl.bind_framebuffer(FRAMEBUFFER, framebuffer);
        gl.gen_renderbuffers(1, &raw mut renderbuffer);
        gl.bind_renderbuffer(RENDERBUFFER, renderbuffer);
        gl.renderbuffer_storage(RENDERBUFFER, RGBA8, 16, 16);
        gl.framebuffer_renderbuffer(FRAMEBUFFER, FIRST_COLOUR, RENDERBUFFER, renderbuffer);
    }

    /// The driver's name of the GPU.
    pub(crate) fn renderer(&self) -> String {
        const RENDERER: u32 = 0x1f01;
        let name = self.functions.get_string(RENDERER);
        if name.is_null() {
            return String::new();
        }
        // SAFETY: the driver gives a string that lives as long as the context.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// A program of one vertex shader whose outputs of these names are captured one after another.
    pub(crate) fn program(&self, vertex_shader: &str, captured: &[&CStr]) -> Result<u32> {
        const VERTEX_SHADER: u32 = 0x8b31;
        const INTERLEAVED: u32 = 0x8c8c;
        const LINK_STATUS: u32 = 0x8b82;
        let gl = &self.functions;
        let (text, shader, program) =
            (CString::new(vertex_shader)?, gl.create_shader(VERTEX_SHADER), gl.create_program());
        gl.shader_source(shader, 1, &text.as_ptr(), ptr::null());
        gl.compile_shader(shader);
        gl.attach_shader(program, shader);
        let names: Vec<_> = captured.iter().map(|name| name.as_ptr()).collect();
        gl.transform_feedback_varyings(program, names.len() as i32, names.as_ptr(), INTERLEAVED);
        gl.link_program(program);
        let mut linked = 0;
        gl.get_program(program, LINK_STATUS, &raw mut linked);
        match linked {
            1 => Ok(program),
            _ => Err(self.log(program).into()),
        }
    }

    fn log(&self, program: u32) -> String {
        let mut log = [0u8; 4096];
        self.functions.get_program_info_log(
            program,
            log.len() as i32,
            ptr::null_mut(),
            log.as_mut_ptr().cast(),
        );
        let text = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        text.to_string_lossy().into_owned()
    }

    /// A buffer of so many bytes, all 0xee.
    pub(crate) fn buffer(&self, bytes: usize) -> u32 {
        const DYNAMIC_READ: u32 = 0x88e9;
        let (mut buffer, fill) = (0, vec![0xee_u8; bytes]);
        self.functions.gen_buffers(1, &raw mut buffer);
        self.functions.bind_buffer(CAPTURE, buffer);
        self.functions.buffer_data(CAPTURE, bytes as isize, fill.as_ptr().cast(), DYNAMIC_READ);
        buffer
    }

    /// A buffer of so many bytes with nothing in it.
    pub(crate) fn reserve(&self, bytes: usize) -> u32 {
        const STATIC_DRAW: u32 = 0x88e4;
        let mut buffer = 0;
        self.functions.gen_buffers(1, &raw mut buffer);
        self.functions.bind_buffer(CAPTURE, buffer);
        self.functions.buffer_data(CAPTURE, bytes as isize, ptr::null(), STATIC_DRAW);
        buffer
    }

    /// Draws vertices of a program and captures them.
    pub(crate) fn capture(&self, program: u32, buffer: u32, primitives: u32, vertices: i32) {
        let gl = &self.functions;
        gl.use_program(program);
        gl.bind_buffer_base(CAPTURE, 0, buffer);
        gl.begin_transform_feedback(if primitives == POINTS { POINTS } else { TRIANGLES });
        gl.draw_arrays(primitives, 0, vertices);
        gl.end_transform_feedback();
    }

    /// A buffer's first words.
    pub(crate) fn words(&self, buffer: u32, count: usize) -> Vec<u32> {
        let mut words = vec![0; count];
        self.functions.bind_buffer(CAPTURE, buffer);
        self.functions.get_buffer_sub_data(CAPTURE, 0, 4 * count as isize, words.as_mut_ptr().cast());
        words
    }

    /// The first error since the last call, as an error.
    pub(crate) fn check(&self) -> Result<()> {
        match self.functions.get_error() {
            0 => Ok(()),
            error => Err(format!("OpenGL error {error:#x}").into()),
        }
    }
}

impl Drop for Gl {
    fn drop(&mut self) {
        self.egl.make_current(self.display, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        self.egl.destroy_context(self.display, self.context);
        self.egl.terminate(self.display);
    }
}
