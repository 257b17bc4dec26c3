// An authorization server for tests, made with oidc-provider: says where it listens, knows one program (robot), and gives
// it signed access tokens for whatever resource it names; those for one named short are soon over.
// usage: node authorization_server.mjs FOLDER_OF_NODE_MODULES
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')));
const scope = 'toolcrib:read toolcrib:call toolcrib:author toolcrib:operate toolcrib:admin';

const server = createServer();
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
    scopes: ['openid', ...scope.split(' ')],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope,
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: resource.endsWith('/short') ? 3 : 300,
        }),
      },
    },
  });
  server.on('request', provider.callback());
  console.log(`listening on ${issuer}`);
});
