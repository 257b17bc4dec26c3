//! `get_text_embedding`: a vector for each text, made by the embeddings endpoint that the configuration names.

use super::{About, Builtin, pure};
use crate::parts::Parts;
use crate::retrieval::failure;
use executor::kind::RunFuture;
use executor::{Code, Data, Failure, Output, Run};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use vectors::embeddings::TEXTS_MAX;

pub(super) struct GetTextEmbedding(pub(super) Arc<Parts>);

impl GetTextEmbedding {
    async fn embed(&self, run: &Run) -> Result<Output, Failure> {
        let embeddings = self.0.vectors.embeddings()?;
        let texts = texts(run.arguments.get("text_list"));
        let made = embeddings.embed(&texts, run.deadline).await;
        let made = made.map_err(|error| failure(&error))?;
        // As the endpoint wrote them: no number is read and rounded on its way.
        let made: Vec<&str> = made.iter().map(|one| one.json.get()).collect();
        let data = RawValue::from_string(format!("[{}]", made.join(",")));
        let data = data.map_err(|_| {
            Failure::new(
                Code::UpstreamError,
                "The embeddings endpoint answered no JSON",
            )
        })?;
        Ok(Output {
            data: Data::Written(data),
            ..Output::default()
        })
    }
}

/// The strings of a list; its schema has seen to it that they are strings.
pub(super) fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let text = |item: &Value| item.as_str().map(str::to_owned);
    items.filter_map(text).collect()
}

impl Builtin for GetTextEmbedding {
    fn about(&self) -> About {
        About {
            name: "get_text_embedding",
            description: "Turns texts into embedding vectors, one list of numbers for each text and in their order, with the embedding model of this server. Use it where vectors themselves are wanted; to find documents by meaning, use get_sim_search.",
            description_user: "Turns texts into embedding vectors, one for each text.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "text_list": {
                        "type": "array", "items": {"type": "string"}, "maxItems": TEXTS_MAX,
                        "description": "The texts to turn into vectors"
                    }
                },
                "required": ["text_list"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({
                "type": "array",
                "items": {"type": "array", "items": {"type": "number"}}
            })),
            annotations: pure(),
            parallel_capable: true,
            examples: &[
                "give me the embedding of the sentence 'late parcels make customers angry'",
                "I need the raw vectors for these three titles: Red shoes, Blue boots, Green socks",
                "Encode \"refund policy\" and \"return rules\" as numbers so I can compute their cosine myself",
                "vectorize this string: winter sale starts monday",
                "what does our model turn 'hello world' into, show the list of floats",
                "'배송이 빨라요' 이 문장 임베딩 벡터로 만들어줘",
                "상품명 세 개를 벡터로 변환해 주세요: 사과, 배, 포도",
                "\"환불 문의\"를 숫자 배열로 인코딩한 값이 필요해요",
                "'안녕하세요'랑 '반갑습니다' 각각 임베딩 값 좀 뽑아줄래",
                "클러스터링 돌리려고 하는데 '가격이 비싸요', '품질이 좋아요' 벡터값 줘",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.embed(run))
    }
}
