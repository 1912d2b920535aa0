/** What no reading token may come to: values that open something, wherever a record could hold them. */
import { expect, test } from 'vitest'
import { startForge } from '../src/forge.ts'
import { addressOf, call, inputOf, setStage } from './cases.ts'
import { cases } from './endpoints.ts'

test('no read answers a reading token of an administrator with a secret', { timeout: 120_000 }, async () => {
  await using forge = await startForge()
  const { administrator, app } = forge
  const s = await setStage(forge, 'private')
  const { project, group, owner } = s
  const settings = { recaptcha_private_key: 'secret-captcha', akismet_api_key: 'secret-akismet', sentry_dsn: 'x://dsn' }
  await administrator.put('/application/settings', { ...settings, asset_proxy_secret_key: 'secret-proxy' })
  const made = (path: string, input: Record<string, unknown>) => s.make(path, input, administrator)
  const hook = { url: 'https://hooks.example/x', token: 'secret-of-the-hook' }
  await made(`/projects/${project.id}/hooks`, hook)
  const scoped = { name: 'x', scopes: ['api'] }
  const held = [
    await made(`/users/${owner.id}/impersonation_tokens`, scoped),
    await made(`/users/${owner.id}/personal_access_tokens`, scoped),
    await made(`/projects/${project.id}/deploy_tokens`, { name: 'x', scopes: ['read_repository'] }),
  ].map(({ token }) => token as string)
  const registered = await made('/applications', { name: 'x', redirect_uri: 'https://app.example', scopes: 'api' })
  for (const at of [`/projects/${project.id}`, `/groups/${group.id}`])
    await made(`${at}/invitations`, { email: 'jane@elsewhere.example', access_level: 10 })
  const invitations = await app.db.selectFrom('invitations').select('token_sealed').execute()
  const rows = await app.db.selectFrom('projects').select('runners_token_sealed').execute()
  const secrets = [
    ...Object.values(settings),
    'secret-proxy',
    hook.token,
    ...held,
    registered.secret as string,
    owner.token,
    administrator.token,
    ...invitations.map((row) => app.vault.open(row.token_sealed)),
    ...rows.map((row) => app.vault.open(row.runners_token_sealed)),
  ]
  expect(secrets.every((one) => typeof one === 'string' && one.length > 5)).toBe(true)

  const wish = { name: 'reader', scopes: ['read_api', 'read_user'] }
  const { token } = await made('/user/personal_access_tokens', wish)
  const reader = forge.as({ 'PRIVATE-TOKEN': token })
  const told: Record<string, string[]> = {}
  let answered = 0
  for (const one of cases.filter(({ method }) => method === 'GET')) {
    const { status, body } = await call(reader, 'GET', await addressOf(one, s, administrator), await inputOf(one, s))
    if (status === 200) answered++
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
    const found = secrets.filter((secret) => text.includes(secret))
    if (found.length > 0) told[one.name] = found
  }
  expect(told).toEqual({})
  expect(answered).toBeGreaterThan(100)
})
