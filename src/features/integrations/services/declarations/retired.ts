import type { Variable } from '../../../../ci/config/variables.ts'
import type { Setting } from '../model.ts'
import { flag, line, longer, required, secret, secretText, service, url } from '../declare.ts'

/** The hosted products behind these services no longer exist. Settings are stored and shown, but nothing is sent. */
export const campfire = service({
  slug: 'campfire',
  title: 'Campfire',
  fields: { token: required(secret), subdomain: line(), room: line() },
  events: ['push'],
  gone: 'The hosted chat it spoke to was retired',
})

export const flowdock = service({
  slug: 'flowdock',
  title: 'Flowdock',
  fields: { token: required(secret) },
  events: ['push'],
  gone: 'Flowdock was shut down in 2022',
})

export const gemnasium = service({
  slug: 'gemnasium',
  title: 'Gemnasium',
  fields: { api_key: required(secret), token: required(secret) },
  events: ['push'],
  gone: 'Gemnasium was shut down in 2018',
})

export const hipchat = service({
  slug: 'hipchat',
  title: 'HipChat',
  fields: {
    token: required(secret),
    room: line(),
    color: line(),
    notify: flag(),
    api_version: line(),
    server: url,
    notify_only_broken_pipelines: flag(true),
  },
  events: ['push', 'tag_push', 'issue', 'confidential_issue', 'merge_request', 'note', 'pipeline'],
  gone: 'HipChat was shut down in 2019',
})

export const prometheus = service({
  slug: 'prometheus',
  title: 'Prometheus',
  fields: { api_url: required(url) },
  events: [],
  gone: 'Charts of environments are no part of the API any more',
})

const plain = (key: string, value: Setting | undefined): Variable => ({ key, value: String(value ?? ''), raw: true })
const masked = (key: string, value: Setting | undefined): Variable => ({ ...plain(key, value), masked: true })

/** These services pass their settings to CI jobs. */
export const kubernetes = service({
  slug: 'kubernetes',
  title: 'Kubernetes',
  fields: { namespace: required(line()), api_url: required(url), token: required(secret), ca_pem: longer },
  events: [],
  // Only for jobs that deploy.
  variables: ({ namespace, api_url, token, ca_pem }, { environment }) =>
    environment === null
      ? []
      : [
          plain('KUBE_URL', api_url),
          masked('KUBE_TOKEN', token),
          plain('KUBE_NAMESPACE', namespace),
          ...(ca_pem ? [plain('KUBE_CA_PEM', ca_pem), { ...plain('KUBE_CA_PEM_FILE', ca_pem), file: true }] : []),
        ],
})

export const harbor = service({
  slug: 'harbor',
  title: 'Harbor',
  fields: {
    url: required(url),
    project_name: required(line()),
    username: required(line()),
    password: required(secret),
  },
  events: [],
  variables({ url, project_name, username, password }) {
    const { host } = new URL(String(url))
    return [
      plain('HARBOR_URL', url),
      plain('HARBOR_HOST', host),
      plain('HARBOR_OCI', `oci://${host}`),
      plain('HARBOR_PROJECT', project_name),
      plain('HARBOR_USERNAME', username),
      masked('HARBOR_PASSWORD', password),
    ]
  },
})

export const googlePlay = service({
  slug: 'google-play',
  title: 'Google Play',
  fields: {
    package_name: required(line()),
    service_account_key: required(secretText),
    service_account_key_file_name: required(line()),
    google_play_protected_refs: flag(true),
  },
  events: [],
  variables: ({ package_name, service_account_key, google_play_protected_refs }, { isProtected }) =>
    google_play_protected_refs && !isProtected
      ? []
      : [plain('SUPPLY_PACKAGE_NAME', package_name), masked('SUPPLY_JSON_KEY_DATA', service_account_key)],
})

export const appleAppStore = service({
  slug: 'apple-app-store',
  title: 'Apple App Store Connect',
  fields: {
    app_store_issuer_id: required(line()),
    app_store_key_id: required(line()),
    app_store_private_key_file_name: required(line()),
    app_store_private_key: required(secretText),
    app_store_protected_refs: flag(true),
  },
  events: [],
  variables: (settings, { isProtected }) =>
    settings.app_store_protected_refs && !isProtected
      ? []
      : [
          plain('APP_STORE_CONNECT_API_KEY_ISSUER_ID', settings.app_store_issuer_id),
          plain('APP_STORE_CONNECT_API_KEY_KEY_ID', settings.app_store_key_id),
          masked(
            'APP_STORE_CONNECT_API_KEY_KEY',
            Buffer.from(String(settings.app_store_private_key)).toString('base64'),
          ),
          plain('APP_STORE_CONNECT_API_KEY_IS_KEY_CONTENT_BASE64', 'true'),
        ],
})

export const diffblueCover = service({
  slug: 'diffblue-cover',
  title: 'Diffblue Cover',
  fields: {
    diffblue_license_key: required(secret),
    diffblue_access_token_name: required(line()),
    diffblue_access_token_secret: required(secret),
  },
  events: [],
  variables: (settings) => [
    masked('DIFFBLUE_LICENSE_KEY', settings.diffblue_license_key),
    plain('DIFFBLUE_ACCESS_TOKEN_NAME', settings.diffblue_access_token_name),
    masked('DIFFBLUE_ACCESS_TOKEN', settings.diffblue_access_token_secret),
  ],
})
