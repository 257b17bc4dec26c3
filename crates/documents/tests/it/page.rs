//! Web pages: what they say, without what surrounds it.

use documents::{Limits, html_to_markdown, page_to_markdown};

fn page(html: &str) -> documents::Page {
    html_to_markdown(
        html,
        Some("https://site.test/news/list.html?page=2"),
        &Limits::default(),
    )
    .expect("the page can be read")
}

const NEWS: &str = r#"<!DOCTYPE html><html lang="ko"><head><title> 오늘의
소식 </title><style>p { color: red }</style><script>var a = "<p>스크립트</p>";</script></head><body>
<header><a href="/">처음</a></header>
<nav><ul><li><a href="/a">메뉴 하나</a></li><li><a href="/b">메뉴 둘</a></li></ul></nav>
<div class="sidebar"><p>곁의 글</p></div>
<div id="content"><article>
<h1>큰 제목</h1>
<p>첫 문단은 <b>굵고</b> <em>기운</em> 글이며 <a href="../about?x=1#top">소개</a>로 이어진다. 본문이 길어야 본문으로 여겨진다. 그래서 조금 더 쓴다.
<p>둘째 문단&nbsp;&amp; 끝. <span style="display: none">보이지 않는 지시</span><span hidden>숨은 글</span>
<ul><li>하나<li>둘<ol start="3"><li>셋</ol></ul>
<table><tr><th>이름<th>값<tr><td>가|나<td>1<br>2<tr><td colspan=2>합계</table>
<pre><code class="language-python">print("안녕")
</code></pre>
<blockquote><p>인용한 글</blockquote>
<img src="/i.png" alt="그림 설명"><img src="data:image/png;base64,AAAA" alt="">
<a href="javascript:alert(1)">누르지 마시오</a>
</article></div>
<footer>저작권</footer></body></html>"#;

#[test]
fn a_page_is_what_it_is_about() {
    let page = page(NEWS);
    assert_eq!(page.title, "오늘의 소식");
    let expected = "# 큰 제목\n\n\
        첫 문단은 **굵고** *기운* 글이며 [소개](https://site.test/about?x=1#top)로 이어진다. 본문이 길어야 본문으로 여겨진다. 그래서 조금 더 쓴다.\n\n\
        둘째 문단\u{a0}& 끝.\n\n\
        - 하나\n- 둘\n    3. 셋\n\n\
        | 이름 | 값 |\n| --- | --- |\n| 가\\|나 | 1<br>2 |\n| 합계 |  |\n\n\
        ```python\nprint(\"안녕\")\n```\n\n\
        > 인용한 글\n\n\
        ![그림 설명](https://site.test/i.png) 누르지 마시오\n";
    assert_eq!(page.markdown, expected);
}

#[test]
fn as_a_document_a_page_is_kept_whole() {
    let document =
        documents::parse(NEWS.as_bytes(), Some("news.html"), &Limits::default()).unwrap();
    assert!(
        document.markdown.contains("메뉴 하나") && document.markdown.contains("저작권"),
        "{}",
        document.markdown
    );
    assert!(
        !document.markdown.contains("스크립트") && !document.markdown.contains("보이지 않는"),
        "{}",
        document.markdown
    );
    assert_eq!(document.metadata["title"], "오늘의 소식");
}

#[test]
fn a_page_says_itself_what_its_links_are_relative_to() {
    let page = page("<base href='https://other.test/x/'><p>글 <a href='y'>고리</a>");
    assert_eq!(page.markdown, "글 [고리](https://other.test/x/y)\n");
}

#[test]
fn main_wins_over_longer_surroundings() {
    let long = "둘레의 글이 아주 길다. ".repeat(100);
    let short = "본문이다. ".repeat(30);
    let page = page(&format!(
        "<body><div>{long}</div><main><p>{short}</main></body>"
    ));
    assert_eq!(page.markdown.trim(), short.trim());
}

#[test]
fn a_table_that_only_arranges_the_page_is_no_table() {
    let page = page(
        "<table><tr><td><table><tr><td>a<td>b<tr><td>1<td>2</table></td><td><p>옆 글</td></tr></table>",
    );
    assert_eq!(
        page.markdown,
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n옆 글\n"
    );
}

#[test]
fn broken_pages_are_read_as_far_as_they_go() {
    assert_eq!(page("<p>열린 <b>굵은").markdown, "열린 **굵은**\n");
    assert_eq!(
        page("</div></p>글<br/>줄 < 3 & &copy; &#xAC00; <x-y>새</x-y>").markdown,
        "글  \n줄 < 3 & © 가 새\n"
    );
    assert!(html_to_markdown("", None, &Limits::default()).is_err());
}

#[test]
fn a_page_as_it_came_is_read_in_its_encoding() {
    let bytes =
        b"<html><title>\xc7\xd1\xb1\xdb</title><p>\xb9\xae\xbc\xad <a href=a>\xb0\xed\xb8\xae</a>";
    let page = page_to_markdown(
        bytes,
        Some("euc-kr"),
        Some("https://site.test/"),
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(
        (page.title.as_str(), page.markdown.as_str()),
        ("한글", "문서 [고리](https://site.test/a)\n")
    );
}
