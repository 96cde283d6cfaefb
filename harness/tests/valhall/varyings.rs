//! Smooth and flat loads with weights of every kind: translated as interpreted, and within the policy's tolerance.

use guestwave_cp::mali::job::environment::{Environment, register};
use guestwave_cp::{GuestMemory, LaneRule, ScalarRule};
use guestwave_harness::mali::map_zeros;
use guestwave_isa::mali::interpolate::TOLERANCE_F32;

use super::support::{Rng, THREADS, dispatch, memory, plain, reference, run, soft};

/// Three packets of 16 bytes.
const PACKETS: u64 = 0x40_0000;

/// LD_VAR_BUF_IMM of four components, f32 from f32 and f16 from f32, and a flat one; then the stores.
fn code() -> Vec<u64> {
    vec![
        0x005c_8008_3200_003d,
        0x005d_8404_3200_003d,
        0x005c_8808_3000_003d,
        0x0061_4008_3800_0010,
        0x0061_4408_3800_1010,
        0x7861_4808_3800_2010,
    ]
}

#[test]
fn smooth_and_flat_loads_agree_and_keep_the_tolerance() {
    let mut rng = Rng(0x1111_2222_3333_4445);
    for round in 0..40 {
        let weight = |rng: &mut Rng| (rng.below(1 << 20) as f32) / (1 << 20) as f32;
        let value = |rng: &mut Rng| weight(rng) * 64.0 - 32.0;
        let vertices: [[f32; 4]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| value(&mut rng)));
        let weights: Vec<[f32; 3]> = (0..THREADS)
            .map(|t| {
                let (a, b) = (weight(&mut rng), weight(&mut rng));
                if t == 0 { [0.0, 1.0, 0.0] } else { [a, (1.0 - a) * b, (1.0 - a) * (1.0 - b)] }
            })
            .collect();
        let mut launch = dispatch(&[]);
        let env = Environment { packets: PACKETS, packet_stride: 16, ..Environment::default() };
        launch.sgprs = env.words().into_iter().map(ScalarRule::Word).collect();
        for i in 0..3 {
            launch.vgprs[register::VERTICES + i] = LaneRule::Word(i as u32);
            launch.vgprs[register::WEIGHTS + i] =
                LaneRule::PerItem(weights.iter().map(|w| w[i].to_bits()).collect());
        }
        launch.vgprs[register::FLAT_VERTEX] = LaneRule::Word(2);
        let guest = || {
            let memory = memory(&code(), [0; 4]);
            map_zeros(&memory, PACKETS, 4096).unwrap();
            let bytes: Vec<u8> = vertices.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
            memory.write(PACKETS, &bytes).unwrap();
            memory
        };
        let expected = run(reference(), &guest(), &launch).unwrap().0;
        assert!(run(plain(), &guest(), &launch).unwrap().0 == expected);
        assert!(round % 8 != 0 || run(soft(), &guest(), &launch).unwrap().0 == expected);
        for (t, weights) in weights.iter().enumerate() {
            let float = |i: usize| {
                let at = 48 * t + 4 * i;
                f32::from_le_bytes([expected[at], expected[at + 1], expected[at + 2], expected[at + 3]])
            };
            for k in 0..4 {
                let exact: f64 = (0..3).map(|i| f64::from(weights[i]) * f64::from(vertices[i][k])).sum();
                let largest = vertices.iter().map(|v| f64::from(v[k]).abs()).fold(0.0, f64::max);
                assert!((f64::from(float(k)) - exact).abs() <= largest * TOLERANCE_F32);
                assert_eq!(float(8 + k), vertices[2][k]);
            }
            assert!(t != 0 || (0..4).all(|k| float(k) == vertices[1][k]));
        }
    }
}
