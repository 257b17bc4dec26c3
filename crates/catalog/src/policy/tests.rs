//! The verdict, check by check.

use super::*;
use crate::caller::{Scopes, Transport};
use crate::tool::Shelf;
use crate::tool::tests::tool;
use serde_json::json;

fn someone(role: Role) -> Caller {
    Caller::of_user(Uuid::from_u128(9), "someone", role, Transport::Rest)
}

/// A set that everybody may use.
fn toolset(owner: Uuid, body: &serde_json::Value) -> Arc<Toolsets> {
    let definition = crate::toolset::toolset_from_text(&body.to_string()).unwrap();
    let name = definition.name.as_str().into();
    let toolset = Arc::new(Toolset::new(owner, definition));
    Arc::new(Toolsets::from([(name, toolset)]))
}

fn rule(allow: Option<&[&str]>, deny: &[&str], hide: &[&str]) -> Rule {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    Rule {
        allow: allow.map(owned),
        deny: owned(deny),
        hide: owned(hide),
    }
}

#[test]
fn the_whitelist_counts_only_when_enforced_and_not_empty() {
    let caller = someone(Role::Author);
    let verdict = |enforced, list, name: &str| {
        Policy::new(enforced, list).verdict(&caller, &tool(name, SYSTEM_USER))
    };
    let blocked = Verdict::Denied(Denial::Whitelist);
    assert_eq!(
        verdict(true, " web_search , calculator ", "calculator"),
        Verdict::Allowed
    );
    assert_eq!(verdict(true, "web_search,calculator", "shell"), blocked);
    assert_eq!(verdict(false, "web_search", "shell"), Verdict::Allowed);
    assert_eq!(verdict(true, "", "shell"), Verdict::Allowed);
    assert_eq!(verdict(true, " , ", "shell"), Verdict::Allowed);
}

#[test]
fn another_users_private_tool_does_not_exist() {
    let mut theirs = tool("theirs", Uuid::from_u128(1));
    let policy = Policy::new(true, "nothing");
    let blocked = Verdict::Denied(Denial::Whitelist);
    let other = someone(Role::Author);
    let owner = Caller::of_user(Uuid::from_u128(1), "owner", Role::Author, Transport::Rest);
    assert_eq!(policy.verdict(&other, &theirs), Verdict::Hidden);
    assert_eq!(policy.verdict(&owner, &theirs), blocked);
    assert_eq!(policy.verdict(&someone(Role::Admin), &theirs), blocked);
    theirs.definition.is_public = true;
    assert_eq!(policy.verdict(&other, &theirs), blocked);
}

#[test]
fn what_is_no_tool_follows_the_rules_for_its_name_alone() {
    let mut policy = Policy::new(true, "calculator");
    let reader = someone(Role::Viewer);
    assert!(policy.may_use(&reader, "files.file:///a"));
    for (subject, rule) in [
        (Subject::Everyone, rule(None, &["files.*"], &[])),
        (Subject::Role(Role::Viewer), rule(None, &[], &["files.*"])),
        (Subject::User(reader.user), rule(Some(&["calc*"]), &[], &[])),
    ] {
        policy.rules = HashMap::from([(subject, rule)]);
        assert!(!policy.may_use(&reader, "files.file:///a"), "{policy:?}");
    }
    policy.rules = HashMap::from([(Subject::Everyone, rule(Some(&["files.*"]), &[], &[]))]);
    assert!(policy.may_use(&reader, "files.file:///a"));
    let mut through = reader;
    through.toolset = Some("set".into());
    let set = json!({"name": "set", "allow": ["files.*"], "is_public": true});
    policy.toolsets = toolset(SYSTEM_USER, &set);
    assert!(policy.may_use(&through, "files.file:///a"));
    assert!(!policy.may_use(&through, "other.file:///a"));
}

#[test]
fn rules_take_away_and_never_give() {
    let mut caller = someone(Role::Author);
    let (key, agent) = (Uuid::from_u128(21), Uuid::from_u128(22));
    caller.key_id = Some(key);
    caller.agent = Some(agent);
    caller.toolset = Some("data".into());
    let subjects = [
        Subject::Everyone,
        Subject::Role(Role::Author),
        Subject::User(caller.user),
        Subject::Key(key),
        Subject::Agent(agent),
        Subject::Toolset("data".into()),
    ];
    for subject in subjects {
        let kind = subject.kind();
        let with = |rule: Rule, name: &str| {
            let policy = Policy {
                rules: HashMap::from([(subject.clone(), rule)]),
                toolsets: toolset(SYSTEM_USER, &json!({"name": "data"})),
                ..Policy::default()
            };
            policy.verdict(&caller, &tool(name, SYSTEM_USER))
        };
        let denied = Verdict::Denied(Denial::Rule(kind));
        assert_eq!(with(rule(None, &["sh*"], &[]), "shell"), denied);
        assert_eq!(with(rule(None, &["sh*"], &[]), "sql"), Verdict::Allowed);
        assert_eq!(
            with(rule(Some(&["sq?"]), &[], &[]), "sql"),
            Verdict::Allowed
        );
        assert_eq!(with(rule(Some(&["sq?"]), &[], &[]), "shell"), denied);
        assert_eq!(with(rule(Some(&[]), &[], &[]), "sql"), denied);
        assert_eq!(with(rule(Some(&["*"]), &["sql"], &[]), "sql"), denied);
        let all = rule(Some(&["*"]), &["*"], &["sql"]);
        assert_eq!(with(all, "sql"), Verdict::Hidden);
    }
    // A rule for somebody else changes nothing.
    let others = Policy {
        rules: HashMap::from([(Subject::Key(agent), rule(None, &["*"], &["*"]))]),
        toolsets: toolset(SYSTEM_USER, &json!({"name": "data"})),
        ..Policy::default()
    };
    let verdict = others.verdict(&caller, &tool("sql", SYSTEM_USER));
    assert_eq!(verdict, Verdict::Allowed);
}

#[test]
fn a_builtin_is_judged_under_any_name_but_the_operators() {
    let policy = Policy {
        rules: HashMap::from([(Subject::Everyone, rule(None, &["code_execution"], &[]))]),
        ..Policy::default()
    };
    let mut wrapped = tool("innocent", SYSTEM_USER);
    let name = json!("code_execution");
    wrapped.definition.config.insert("name".into(), name);
    let caller = someone(Role::Author);
    assert_eq!(policy.verdict(&caller, &wrapped), Verdict::Allowed);
    wrapped.shelf = Shelf::Database;
    wrapped.owner = caller.user;
    let denied = Verdict::Denied(Denial::Rule(SubjectKind::Everyone));
    assert_eq!(policy.verdict(&caller, &wrapped), denied);
}

#[test]
fn the_first_denial_counts_and_every_check_is_told() {
    let mut policy = Policy::new(true, "other");
    let mut off = tool("off", SYSTEM_USER);
    off.definition.is_active = false;
    off.definition.approval = Some(json!("always"));
    let caller = someone(Role::Author);
    let mut told = Vec::new();
    let verdict = policy.decide(&caller, Judged::tool(&off), |check, effect| {
        told.push((format!("{check:?}"), effect))
    });
    assert_eq!(verdict, Verdict::Denied(Denial::Inactive));
    let denied: Vec<&str> = told
        .iter()
        .filter(|(_, effect)| *effect == Effect::Deny)
        .map(|(check, _)| check.as_str())
        .collect();
    assert_eq!(denied, ["Active", "Whitelist", "Approval"]);
    assert_eq!(told.len(), 6);

    policy = Policy::default();
    off.definition.is_active = true;
    let approval = Verdict::Denied(Denial::Approval);
    assert_eq!(policy.verdict(&caller, &off), approval);
    off.definition.approval = Some(json!(false));
    assert_eq!(policy.verdict(&caller, &off), Verdict::Allowed);
    let viewer = policy.verdict(&someone(Role::Viewer), &off);
    assert_eq!(viewer, Verdict::Denied(Denial::Scope));
    let mut reader = someone(Role::Admin);
    reader.scopes = Scopes::from_iter([Scope::Read]);
    assert_eq!(
        policy.verdict(&reader, &off),
        Verdict::Denied(Denial::Scope)
    );
}

#[test]
fn what_a_user_left_behind_is_out_of_use() {
    let left = Uuid::from_u128(5);
    let mut theirs = tool("theirs", left);
    theirs.definition.is_public = true;
    let policy = Policy {
        left: HashSet::from([left]),
        ..Policy::default()
    };
    let gone = Verdict::Denied(Denial::OwnerLeft);
    assert_eq!(policy.verdict(&someone(Role::Admin), &theirs), gone);
    assert_eq!(policy.verdict(&someone(Role::Author), &theirs), gone);
}

#[test]
fn what_is_not_in_the_toolset_does_not_exist_there() {
    let mut caller = someone(Role::Author);
    let owner = Uuid::from_u128(1);
    let body = json!({"name": "data", "tools": ["sql", {"tool": "web", "name": "look"}], "deny": ["sql_*"], "allow": ["sql*"]});
    let mut policy = Policy {
        toolsets: toolset(caller.user, &body),
        ..Policy::default()
    };
    let verdict = |policy: &Policy, caller: &Caller, name: &str| {
        policy.verdict(caller, &tool(name, SYSTEM_USER))
    };
    assert_eq!(verdict(&policy, &caller, "shell"), Verdict::Allowed);
    caller.toolset = Some("data".into());
    for (name, expected) in [
        ("sql", Verdict::Allowed),
        ("web", Verdict::Allowed),
        ("sql2", Verdict::Allowed),
        ("sql_write", Verdict::Hidden),
        ("shell", Verdict::Hidden),
    ] {
        assert_eq!(verdict(&policy, &caller, name), expected, "{name}");
    }
    // A set gives nothing that its user may not have, and its rules go on counting.
    let theirs = tool("sql", owner);
    assert_eq!(policy.verdict(&caller, &theirs), Verdict::Hidden);
    let subject = Subject::Toolset("data".into());
    policy.rules = HashMap::from([(subject, rule(None, &["sql2"], &[]))]);
    let denied = Verdict::Denied(Denial::Rule(SubjectKind::Toolset));
    assert_eq!(verdict(&policy, &caller, "sql2"), denied);
    policy.rules.clear();
    // A set that is not there, not theirs, or left behind holds nothing.
    caller.toolset = Some("other".into());
    assert_eq!(verdict(&policy, &caller, "sql"), Verdict::Hidden);
    caller.toolset = Some("data".into());
    policy.toolsets = toolset(owner, &body);
    assert_eq!(verdict(&policy, &caller, "sql"), Verdict::Hidden);
    let mut admin = someone(Role::Admin);
    admin.toolset = Some("data".into());
    assert_eq!(verdict(&policy, &admin, "sql"), Verdict::Allowed);
    let mut public = body;
    public["is_public"] = json!(true);
    policy.toolsets = toolset(owner, &public);
    assert_eq!(verdict(&policy, &caller, "sql"), Verdict::Allowed);
    policy.left.insert(owner);
    assert_eq!(verdict(&policy, &caller, "sql"), Verdict::Hidden);
    assert_eq!(verdict(&policy, &admin, "sql"), Verdict::Hidden);
}
