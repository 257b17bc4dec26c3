//! How fast texts are encoded: `cargo run --release -p encoder --example encode_speed [FILE]`, where the file has a
//! text on each line. Tells the time to open the encoder, the time of a text by its number of pieces, and the memory
//! taken.

use std::time::{Duration, Instant};

use encoder::Encoder;

const ROUNDS: usize = 200;
const TEXTS: &[&str] = &[
    "What is the weather like in Seoul tomorrow morning?",
    "서울 내일 아침 날씨 어때?",
    "Find me a cheap flight from Incheon to Tokyo next Friday and book a hotel near the station",
    "다음 주 금요일에 인천에서 도쿄로 가는 저렴한 항공권을 찾아서 예약하고 역 근처 호텔도 알려줘",
    "Convert 250 US dollars to Korean won at today's rate.",
    "이번 달 카드 사용 내역을 엑셀 파일로 정리해서 팀장님께 메일로 보내줘",
    "Summarise the attached report in three sentences and translate the summary into Korean, please.",
];

#[expect(clippy::print_stdout, reason = "its output is its purpose")]
fn main() {
    let before = resident_kb();
    let began = Instant::now();
    let encoder = Encoder::open().expect("the model is whole");
    let opened = began.elapsed();
    let began = Instant::now();
    std::hint::black_box(encoder.encode(TEXTS[0]));
    println!("opened in {opened:?}, first text in {:?}", began.elapsed());

    let given = std::env::args()
        .nth(1)
        .map(|path| std::fs::read_to_string(path).expect("the file is read"));
    let texts: Vec<&str> = match &given {
        Some(lines) => lines.lines().collect(),
        None => TEXTS.to_vec(),
    };
    let rounds = if given.is_some() { 5 } else { ROUNDS };
    let mut all = Vec::new();
    for text in &texts {
        let mut times: Vec<Duration> = (0..rounds)
            .map(|_| {
                let began = Instant::now();
                std::hint::black_box(encoder.encode(std::hint::black_box(text)));
                began.elapsed()
            })
            .collect();
        times.sort();
        all.push((
            encoder.pieces(text).len() + 2,
            times[times.len() / 2],
            times[0],
        ));
        if given.is_none() {
            let (count, median, best) = all[all.len() - 1];
            println!("{count:4} pieces: median {median:9.1?}, best {best:9.1?}  {text}");
        }
    }
    let pieces: usize = all.iter().map(|(count, ..)| count).sum();
    let mut medians: Vec<Duration> = all.iter().map(|(_, median, _)| *median).collect();
    medians.sort();
    println!(
        "{} texts of {:.1} pieces on average: median {:.1?}, nine of ten under {:.1?}",
        texts.len(),
        pieces as f64 / texts.len() as f64,
        medians[medians.len() / 2],
        medians[medians.len() * 9 / 10],
    );
    println!("memory: {before} kB before, {} kB now", resident_kb());
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
