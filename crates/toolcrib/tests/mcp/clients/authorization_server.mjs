// An authorization server for tests, made with oidc-provider: says where it listens, knows one program (robot), registers
// others, and gives them signed access tokens for whatever resource they name (those for one
// named short are soon over). Whoever comes with a browser is who they
// say they are (header X-Person) and agrees to everything. /issued tells what was given, /asked what was asked for.
// usage: [TTL=SECONDS] node authorization_server.mjs FOLDER_OF_NODE_MODULES
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));
const scope = 'toolcrib:read toolcrib:call toolcrib:author toolcrib:operate toolcrib:admin';
const ttl = Number(process.env.TTL ?? 300);
const issued = [];
const asked = [];

async function interact(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: request.headers['x-person'] } });
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const server = createServer();
// It closes idle connections after five seconds otherwise, and a slow client may be about to use one.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'robot',
      client_secret: 'a-secret-of-the-robot',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    }],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    scopes: ['openid', 'offline_access', ...scope.split(' ')],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => ({
          scope,
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: resource.endsWith('/short') ? 3 : ttl,
        }),
      },
    },
  });
  provider.on('grant.success', (context) => {
    const { access_token, refresh_token } = context.body;
    issued.push(...[access_token, refresh_token].filter(Boolean));
    asked.push(context.oidc.params.grant_type);
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    const tell = (value) => response.end(JSON.stringify(value));
    if (request.url === '/issued') return tell(issued);
    if (request.url === '/asked') return tell(asked);
    if (request.url.startsWith('/interaction/')) {
      return interact(provider, request, response).catch((error) => {
        response.statusCode = 500;
        response.end(`${error.stack}`);
      });
    }
    return handle(request, response);
  });
  console.log(`listening on ${issuer}`);
});
