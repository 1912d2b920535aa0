import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'
import { serviceVariables } from './variables.ts'

test('services give their settings to the jobs they are for', async () => {
  await using forge = await startForge()
  const { owner, url, id, group } = await openSource(forge, 'projects')
  const given = async (isProtected = false, environment: string | null = null) =>
    Object.fromEntries(
      (await serviceVariables(forge.app, { id }, { isProtected, environment })).map((one) => [
        one.key,
        one.masked ? `masked ${one.value}` : one.value,
      ]),
    )
  expect(await given()).toEqual({})
  const harbor = { url: 'https://harbor.example.com:8443/x', project_name: 'saw', username: 'jane', password: 'sesame' }
  await owner.put(`${group.url}/integrations/harbor`, harbor)
  expect(await given()).toEqual({
    HARBOR_URL: harbor.url,
    HARBOR_HOST: 'harbor.example.com:8443',
    HARBOR_OCI: 'oci://harbor.example.com:8443',
    HARBOR_PROJECT: 'saw',
    HARBOR_USERNAME: 'jane',
    HARBOR_PASSWORD: 'masked sesame',
  })
  await owner.delete(`${group.url}/integrations/harbor`)

  const play = { package_name: 'a.b', service_account_key: '{}', service_account_key_file_name: 'key.json' }
  await owner.put(`${url}/integrations/google-play`, play)
  expect(await given()).toEqual({})
  expect(await given(true)).toEqual({ SUPPLY_PACKAGE_NAME: 'a.b', SUPPLY_JSON_KEY_DATA: 'masked {}' })
  await owner.put(`${url}/integrations/google-play`, { google_play_protected_refs: false })
  expect(Object.keys(await given())).toHaveLength(2)
  await owner.delete(`${url}/integrations/google-play`)

  const cluster = { namespace: 'saw', api_url: 'https://k8s.example.com', token: 'sesame', ca_pem: 'PEM' }
  await owner.put(`${url}/services/kubernetes`, cluster)
  expect(await given()).toEqual({})
  expect(await given(false, 'production')).toEqual({
    KUBE_URL: 'https://k8s.example.com',
    KUBE_TOKEN: 'masked sesame',
    KUBE_NAMESPACE: 'saw',
    KUBE_CA_PEM: 'PEM',
    KUBE_CA_PEM_FILE: 'PEM',
  })
  await owner.delete(`${url}/services/kubernetes`)

  await owner.put(`${url}/integrations/diffblue-cover`, {
    diffblue_license_key: 'l',
    diffblue_access_token_name: 'n',
    diffblue_access_token_secret: 's',
  })
  await owner.put(`${url}/integrations/apple-app-store`, {
    app_store_issuer_id: 'i',
    app_store_key_id: 'k',
    app_store_private_key_file_name: 'f.p8',
    app_store_private_key: 'key',
    app_store_protected_refs: false,
  })
  expect(await given()).toEqual({
    DIFFBLUE_LICENSE_KEY: 'masked l',
    DIFFBLUE_ACCESS_TOKEN_NAME: 'n',
    DIFFBLUE_ACCESS_TOKEN: 'masked s',
    APP_STORE_CONNECT_API_KEY_ISSUER_ID: 'i',
    APP_STORE_CONNECT_API_KEY_KEY_ID: 'k',
    APP_STORE_CONNECT_API_KEY_KEY: 'masked a2V5',
    APP_STORE_CONNECT_API_KEY_IS_KEY_CONTENT_BASE64: 'true',
  })

  // The variables are visible to the CI configuration, but variables of the project override them.
  await forge.seed(
    { id },
    { '.gitlab-ci.yml': 'a: { script: [x], rules: [{ if: "$DIFFBLUE_ACCESS_TOKEN_NAME == \'n\'" }] }' },
  )
  expect((await owner.post(`${url}/pipeline`, { ref: 'master' })).status).toBe(201)
  await owner.post(`${url}/variables`, { key: 'DIFFBLUE_ACCESS_TOKEN_NAME', value: 'other' })
  expect((await owner.post(`${url}/pipeline`, { ref: 'master' })).status).toBe(400)
})
