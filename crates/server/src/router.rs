//! The whole API on one screen. What is not in its document stands in `unlisted.rs`.

use crate::api::{
    admin, agents, audit, calls, confirmed, executions, health, keys, limits, login, metrics,
    openapi_tools, pipeline, policy, runs, secrets, select, servers, sign_in, skills, sources,
    tools, toolsets, users, vectors, versions,
};
use crate::auth::keyless;
use crate::edge::Edge;
use crate::{forward, openapi, page, shared, unlisted};
use app::App;
use axum::Router;
use axum::middleware::from_fn_with_state;
use bytes::Bytes;
use catalog::caller::{Caller, Transport};
use face::Face;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// A limit on everything a client could make us wait for or hold.
#[derive(Debug, Clone)]
pub struct Limits {
    pub body_bytes_max: usize,
    pub head_timeout: Duration,
    pub body_timeout: Duration,
    /// How long a client may take nothing of what it is sent, before it counts as gone.
    pub send_timeout: Duration,
    pub connections_max: usize,
    pub requests_max: usize,
    /// Streams that end only with their client.
    pub streams_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes_max: 4 << 20,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            send_timeout: Duration::from_secs(30),
            connections_max: 10_000,
            requests_max: 4_096,
            streams_max: 5_000,
        }
    }
}

/// What every handler can reach.
pub struct Server {
    pub app: Arc<App>,
    pub limits: Limits,
    pub edge: Edge,
    pub face: Arc<Face>,
    /// No key needed; only ever on loopback.
    pub dev: bool,
    pub(crate) local: Arc<Caller>,
    pub(crate) developer: Arc<Caller>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) requests: metrics::Requests,
    pub(crate) streams: Arc<Semaphore>,
    /// Calls other servers on the same database.
    pub(crate) peers: fetch::Fetcher,
    pub(crate) openapi: Bytes,
}

impl Server {
    pub fn new(
        app: Arc<App>,
        limits: Limits,
        edge: Edge,
        mcp: face::Settings,
        dev: bool,
    ) -> Arc<Self> {
        Arc::new(Server {
            face: Face::new(Arc::clone(&app), mcp),
            streams: Arc::new(Semaphore::new(limits.streams_max)),
            app,
            limits,
            edge,
            dev,
            local: keyless("local", Transport::Cli),
            developer: keyless("dev", Transport::Rest),
            in_flight: AtomicUsize::new(0),
            requests: metrics::Requests::default(),
            peers: forward::client(),
            openapi: openapi::document().into(),
        })
    }
}

/// Everything, as the document has it.
pub(crate) fn api() -> OpenApiRouter<Arc<Server>> {
    questions(of_registry(OpenApiRouter::with_openapi(openapi::base())))
}

/// What is asked often and changes nothing: other servers' changes are not looked for first.
fn questions(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    router
        .routes(routes!(calls::call_tool))
        .routes(routes!(pipeline::run_pipeline))
        .routes(routes!(calls::explain_tool))
        .routes(routes!(select::select))
        .routes(routes!(vectors::search_vectors))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::metrics))
}

/// What reads or changes what all servers share.
fn of_registry(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    of_selection(of_vectors(of_sources(of_servers(router))))
        .routes(routes!(tools::list_tools, tools::create_tool))
        .routes(routes!(
            tools::get_tool,
            tools::update_tool,
            tools::patch_tool,
            tools::delete_tool
        ))
        .routes(routes!(calls::test_tool))
        .routes(routes!(calls::run_tests))
        .routes(routes!(versions::list_versions))
        .routes(routes!(versions::get_version))
        .routes(routes!(versions::rollback_tool))
        .routes(routes!(versions::restore_tool))
        .routes(routes!(executions::list_executions))
        .routes(routes!(executions::export_executions))
        .routes(routes!(executions::execution_stats))
        .routes(routes!(executions::get_execution))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(login::login))
        .routes(routes!(login::logout))
        .routes(routes!(login::create_login_link))
        .routes(routes!(users::me))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(
            users::get_user,
            users::change_user,
            users::delete_user
        ))
        .routes(routes!(users::restore_user))
        .routes(routes!(users::reassign))
        .routes(routes!(users::erase_user))
        .routes(routes!(agents::list_agents, agents::create_agent))
        .routes(routes!(
            agents::get_agent,
            agents::update_agent,
            agents::patch_agent,
            agents::delete_agent
        ))
        .routes(routes!(agents::restore_agent))
        .routes(routes!(toolsets::list_toolsets, toolsets::create_toolset))
        .routes(routes!(
            toolsets::get_toolset,
            toolsets::update_toolset,
            toolsets::patch_toolset,
            toolsets::delete_toolset
        ))
        .routes(routes!(toolsets::restore_toolset))
        .routes(routes!(runs::list_runs, runs::begin_run))
        .routes(routes!(runs::get_run))
        .routes(routes!(runs::run_events))
        .routes(routes!(runs::run_log))
        .routes(routes!(runs::answer_run))
        .routes(routes!(runs::cancel_run))
        .routes(routes!(policy::get_policy, policy::set_policy))
        .routes(routes!(policy::explain))
        .routes(routes!(
            limits::list_limits,
            limits::create_limit,
            limits::set_limit
        ))
        .routes(routes!(limits::delete_limit))
        .routes(routes!(limits::usage))
        .routes(routes!(secrets::list_secrets))
        .routes(routes!(secrets::set_secret, secrets::remove_secret))
        .routes(routes!(secrets::rotate_secrets))
        .routes(routes!(secrets::verify_secrets))
        .routes(routes!(audit::list_audit))
        .routes(routes!(audit::export_audit))
        .routes(routes!(audit::verify_audit))
        .routes(routes!(admin::backup))
}

/// What concerns upstream servers.
fn of_servers(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    router
        .routes(routes!(servers::list_servers, servers::create_server))
        .routes(routes!(
            servers::get_server,
            servers::update_server,
            servers::patch_server,
            servers::delete_server
        ))
        .routes(routes!(servers::server_changes))
        .routes(routes!(servers::approve_server))
        .routes(routes!(servers::reconnect_server))
        .routes(routes!(servers::server_tools))
        .routes(routes!(servers::server_resources))
        .routes(routes!(servers::server_prompts))
        .routes(routes!(servers::read_resource))
        .routes(routes!(sign_in::begin_sign_in, sign_in::sign_out))
        .routes(routes!(sign_in::finish_sign_in))
}

/// What concerns the databases of SQL tools.
fn of_sources(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    router
        .routes(routes!(sources::list_sources, sources::create_source))
        .routes(routes!(
            sources::get_source,
            sources::update_source,
            sources::patch_source,
            sources::delete_source
        ))
        .routes(routes!(sources::source_schema))
        .routes(routes!(sources::test_source))
        .routes(routes!(sources::role_script))
}

/// What concerns the choice of tools.
fn of_selection(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    router
        .routes(routes!(skills::list_skills))
        .routes(routes!(skills::get_skill))
        .routes(routes!(
            confirmed::list_confirmed,
            confirmed::confirm,
            confirmed::unconfirm
        ))
        .routes(routes!(openapi_tools::import_openapi))
        .routes(routes!(openapi_tools::tools_as_openapi))
}

/// What concerns collections of vectors.
fn of_vectors(router: OpenApiRouter<Arc<Server>>) -> OpenApiRouter<Arc<Server>> {
    router
        .routes(routes!(vectors::list_collections))
        .routes(routes!(vectors::import_vectors))
        .routes(routes!(vectors::vectors_from_schema))
        .routes(routes!(vectors::test_vectors))
        .routes(routes!(vectors::delete_collection))
        .routes(routes!(vectors::forget_source))
}

pub(crate) fn routes(server: Arc<Server>) -> Router {
    let by_hand = |router, is_of_registry| {
        let all = unlisted::all().into_iter();
        let some = all.filter(|it| it.is_of_registry == is_of_registry);
        some.fold(router, |router: OpenApiRouter<_>, it| {
            router.route(it.path, it.handler)
        })
    };
    let mut router = by_hand(of_registry(OpenApiRouter::new()), true);
    if server.app.is_shared() {
        let state = Arc::clone(&server);
        // Around what is there by now, and nothing that comes after it.
        router = router.route_layer(from_fn_with_state(state, shared::fresh));
    }
    let (router, _) = by_hand(questions(router), false).split_for_parts();
    router.fallback(page::serve).with_state(server)
}
