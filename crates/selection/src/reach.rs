//! Whether a tool can be asked about anything in the world, as a search of the web can, or about one thing only: told by
//! how it describes itself and, where somebody has written that, by what it is asked for.

use crate::dense::Vector;
use crate::nature::{Nature, worldly};
use crate::vectors::Vectors;
use std::sync::Arc;

/// How tools describe themselves that reach everything.
const WIDE: [&str; 6] = [
    "web search: Searches the web and returns pages with their titles, addresses and snippets",
    "Search the internet for current information and news",
    "search engine: Finds up-to-date answers about anything on the public web",
    "웹 검색: 인터넷에서 최신 정보와 뉴스를 찾아 줍니다",
    "웹을 검색하여 관련 페이지를 돌려줍니다",
    "News search: finds the latest news articles on any topic",
];

/// How tools do that look through what is one's own, or do something else with the web.
const NARROW: [&str; 10] = [
    "Searches the company's internal documents and wiki",
    "Searches the tickets, mails and messages of the team",
    "Searches the source code of our repositories",
    "Finds products, orders or customers in the shop's database",
    "Opens a web page and returns its text",
    "Searches the press releases that our company has published",
    "사내 문서와 게시판을 검색합니다",
    "고객, 주문, 상품을 데이터베이스에서 조회합니다",
    "웹 페이지 주소를 열어 본문을 가져옵니다",
    "메일과 대화에서 낱말을 찾습니다",
];

/// Fewer examples may be about the world by chance.
const EXAMPLES_LEAST: usize = 5;

/// A tool of which so many examples are about the world is asked about nothing else.
const MOST: f32 = 0.5;

/// How near to a wide tool a description is at least, and how much nearer than to a narrow one if it is surely wide.
const NEAR: f32 = 0.5;
const NEARER: f32 = 0.1;

pub(crate) fn reach_from() -> impl Iterator<Item = &'static str> {
    WIDE.into_iter().chain(NARROW)
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    wide: Vec<Arc<Vector>>,
    narrow: Vec<Arc<Vector>>,
}

impl Reach {
    pub(crate) fn new(vectors: &Vectors) -> Self {
        let known = |texts: &[&str]| texts.iter().filter_map(|it| vectors.known(it)).collect();
        Reach {
            wide: known(&WIDE),
            narrow: known(&NARROW),
        }
    }

    /// From 0 to 1. What is read of its examples is finer where the reading was trained.
    pub(crate) fn of(
        &self,
        about: &[Option<&Vector>],
        examples: &[Nature],
        is_trained: bool,
    ) -> f32 {
        let described = about.iter().flatten().map(|it| self.described(it));
        let described = described.fold(0.0, f32::max);
        if examples.len() < EXAMPLES_LEAST {
            // What is read coarsely should not move a tool because of its description alone.
            return if is_trained { described } else { 0.0 };
        }
        let count = f32::from(u16::try_from(examples.len()).unwrap_or(u16::MAX));
        let sum: f32 = examples.iter().map(worldly).sum();
        described * (sum / count / MOST).clamp(0.0, 1.0)
    }

    fn described(&self, about: &Vector) -> f32 {
        let near = |all: &[Arc<Vector>]| all.iter().map(|it| it.dot(about)).fold(0.0, f32::max);
        let (wide, narrow) = (near(&self.wide), near(&self.narrow));
        match wide > NEAR {
            true => ((wide - narrow) / NEARER).clamp(0.0, 1.0),
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Encode as _;
    use crate::vectors::tests::Words;

    #[test]
    fn a_search_of_the_web_reaches_everything() {
        let encoder = Words("words");
        let mut vectors = Vectors::default();
        vectors.learn(&encoder, reach_from());
        let reach = Reach::new(&vectors);
        let of = |about: &str| {
            let about = Vector::new(&encoder.encode(about)).unwrap();
            let coarse = reach.of(&[Some(&about)], &[], false);
            assert!(coarse < 1e-6, "{coarse}");
            reach.described(&about)
        };
        assert!(of("Search the internet for current information") > 0.5);
        assert!(of("Searches the source code of a repository") < 0.1);
        assert!(of("Sends a mail") < 0.1);
    }
}
