//! The texts that the cells of all sheets share.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::Limits;
use crate::error::Fault;
use crate::xml;

/// The shared texts in their order; how they look is left out, and so are the readings above Japanese text.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Vec<Box<str>>, Fault> {
    let source = xml::decode(bytes)?;
    let mut reader = Reader::from_str(&source);
    let mut strings: Vec<Box<str>> = Vec::new();
    let mut text = String::new();
    let (mut in_text, mut in_reading, mut depth) = (false, false, 0_u64);
    loop {
        match reader
            .read_event()
            .map_err(|_| Fault::Broken("its shared texts cannot be read"))?
        {
            Event::Start(start) => {
                depth += 1;
                if depth > limits.depth_max {
                    return Err(Fault::TooLarge {
                        what: "depth of nested elements",
                        limit: limits.depth_max,
                    });
                }
                match start.local_name().as_ref() {
                    "si" => text.clear(),
                    "rPh" => in_reading = true,
                    "t" => in_text = !in_reading,
                    _ => {}
                }
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                match end.local_name().as_ref() {
                    "si" => strings.push(std::mem::take(&mut text).into()),
                    "rPh" => in_reading = false,
                    "t" => in_text = false,
                    _ => {}
                }
            }
            Event::Empty(start) if start.local_name().as_ref() == "si" => strings.push("".into()),
            Event::Text(piece) if in_text => text.push_str(&piece.xml10_content()),
            Event::CData(piece) if in_text => text.push_str(&piece.xml10_content()),
            Event::GeneralRef(reference) if in_text => text.push(xml::resolve(&reference)?),
            Event::DocType(_) => {
                return Err(Fault::Broken(
                    "it declares a document type, which no document of its kind does",
                ));
            }
            Event::Eof => return Ok(strings),
            _ => {}
        }
        if strings.len() as u64 > limits.nodes_max {
            return Err(Fault::TooLarge {
                what: "number of texts in the workbook",
                limit: limits.nodes_max,
            });
        }
    }
}
