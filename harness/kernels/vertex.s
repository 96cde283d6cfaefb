; A streamout vertex program in the shape that radeonsi gives it, for benches: wave32, gfx1030.
;
; in:  vec4 p of 16 bytes a vertex, float a
; out: vec4 p * a + (1, 2, 3, vertex), vec4 (dot(p, p), p.xyz); 32 bytes a vertex
;
; s[0:1] list of streamout descriptors, s2 constants, s5 first vertex, s[12:15] descriptor of p, s20 streamout_config,
; s21 streamout_write_index, s22 streamout_offset_0; v0 vertex
	v_add_nc_u32_e32 v0, s5, v0
	buffer_load_format_xyzw v[6:9], v0, s[12:15], 0 idxen
	s_mov_b32 s24, s2
	s_mov_b32 s27, 0x31016fac
	s_movk_i32 s26, 0x10
	s_mov_b32 s25, 0x8000
	s_buffer_load_dword s2, s[24:27], 0x0
	v_mbcnt_lo_u32_b32 v11, -1, 0
	s_bfe_u32 s1, s20, 0x70010
	v_cvt_f32_i32_e32 v4, v0
	s_mov_b32 s3, 0x40400000
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_fma_f32 v1, v6, s2, 1.0
	v_fma_f32 v2, v7, s2, 2.0
	v_fma_f32 v3, v8, s2, s3
	v_fmac_f32_e32 v4, s2, v9
	v_mul_f32_e32 v5, v6, v6
	v_fmac_f32_e32 v5, v7, v7
	v_fmac_f32_e32 v5, v8, v8
	v_fmac_f32_e32 v5, v9, v9
	s_mov_b32 s2, exec_lo
	v_cmpx_gt_u32_e64 s1, v11
	s_cbranch_execz done
	s_movk_i32 s1, 0x8000
	v_add_nc_u32_e32 v0, s21, v11
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 5, v0
	v_lshl_add_u32 v0, s22, 2, v0
	s_waitcnt lgkmcnt(0)
	buffer_store_dwordx4 v[1:4], v0, s[4:7], 0 offen glc slc
	buffer_store_dwordx4 v[5:8], v0, s[4:7], 0 offen offset:16 glc slc
done:
	s_or_b32 exec_lo, exec_lo, s2
	v_mov_b32_e32 v9, 1.0
	exp pos0 v6, v7, v8, v9 done
	exp param0 v1, v2, v3, v4
	exp param1 v5, v6, v7, v8
	s_endpgm
