import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { vault } from '../../src/lib/crypto/secrets.ts'
import { openStore } from '../../src/store/open.ts'
import { Child, run, temporaryFolder } from './command.ts'

const TIMEOUT = 180_000
const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const MORTISE_ROOT_PASSWORD = 'chosen by me'

async function served<T>(
  settings: Record<`MORTISE_${string}`, string>,
  work: (
    ask: (path: string, body?: object, token?: string) => Promise<{ status: number; body: Record<string, unknown> }>,
  ) => Promise<T>,
): Promise<T> {
  await using child = new Child(['serve'], { MORTISE_PORT: '0', ...settings })
  const url = await child.url()
  // Awaited here: returning the promise would stop the server first.
  return await work(async (path, body, token = MORTISE_ROOT_TOKEN) => {
    const answer = await fetch(`${url}/api/v4${path}`, {
      method: !body ? 'GET' : /^\/application|\/services\//.test(path) ? 'PUT' : 'POST',
      headers: { ...(token && { 'PRIVATE-TOKEN': token }), 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  })
}

test('without the key nothing starts, and what it sealed can be given up', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const MORTISE_DATA = folder.path
  const settings = { MORTISE_DATA, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN, MORTISE_ROOT_PASSWORD }
  const file = join(MORTISE_DATA, 'secret.key')
  await served(settings, async (ask) => {
    await ask('/projects', { path: 'p' })
    await ask('/projects/1/hooks', {
      url: 'http://hooks.example.com/',
      token: 'hunter2',
      signing_token: `whsec_${'A'.repeat(32)}`,
      url_variables: [{ key: 'a', value: 'hunter2' }],
      custom_headers: [{ key: 'a', value: 'hunter2' }],
    })
    await ask('/projects/1/services/slack', { webhook: 'https://chat.example.com/hunter2' })
    await ask('/projects/1/variables', { key: 'KEY', value: 'hunter2' })
    await ask('/projects/1/triggers', { description: 'robot' })
    await ask('/projects/1/deploy_tokens', { name: 'gitlab-deploy-token', scopes: ['read_repository'] })
    await ask('/projects/1/pipeline_schedules', { description: 'nightly', ref: 'master', cron: '0 1 * * *' })
    await ask('/projects/1/pipeline_schedules/1/variables', { key: 'KEY', value: 'hunter2' })
    await ask('/projects/1/invitations', { email: 'someone@example.com', access_level: 30 })
    await ask('/users/1/impersonation_tokens', { name: 'i', scopes: ['api'] })
    await ask('/user/feed_token/rotate', {})
    await ask('/application/settings?akismet_enabled=true&akismet_api_key=hunter2', {})
  })

  const advice = ': restore the key, or delete the secrets with mortise secrets reset\n'
  const refused = (line: string) => ({ code: 1, stdout: '', stderr: `mortise: ${line}` })
  const other = '0'.repeat(64)
  await rename(file, `${file}.kept`)
  expect(await run(['serve'], settings)).toEqual(refused(`${file} is missing${advice}`))
  await writeFile(file, other)
  const isOther = 'is not the key that the stored secrets were sealed with'
  expect(await run(['serve'], settings)).toEqual(refused(`${file} ${isOther}${advice}`))
  expect(await run(['serve'], { ...settings, MORTISE_WORKERS: '2' })).toEqual(refused(`${file} ${isOther}${advice}`))
  expect(await run(['user', 'list'], settings)).toEqual(refused(`${file} ${isOther}${advice}`))
  expect(await run(['serve'], { ...settings, MORTISE_SECRET_KEY: other })).toEqual(
    refused(`MORTISE_SECRET_KEY ${isOther}${advice}`),
  )
  await writeFile(file, 'no key')
  expect(await run(['serve'], settings)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${file} holds no key of 64 hex digits`),
  })

  await rename(`${file}.kept`, file)
  expect(await run(['secrets', 'reset'], settings)).toEqual({
    code: 0,
    stdout: 'all stored secrets can be read, nothing changed\n',
    stderr: '',
  })
  await served(settings, async (ask) => expect((await ask('/user')).status).toBe(200))

  await rm(file)
  const reset = await run(['secrets', 'reset'], settings)
  expect(reset).toMatchObject({ code: 0, stderr: '' })
  expect(reset.stdout.trim().split('\n').toSorted()).toEqual([
    '1 CI variables are lost: set them again',
    '1 deploy tokens no longer reach CI jobs: create them again',
    '1 feed tokens were replaced: users must set up their feed readers again',
    '1 integrations lost their secrets and are disabled: set them up again',
    '1 invitations have new links: links in sent emails no longer work',
    '1 pipeline triggers have new tokens: their users must get the new ones',
    '1 runner registration tokens of projects were replaced: register runners with the new ones',
    '1 variables of pipeline schedules are lost: set them again',
    '1 webhooks lost their URL variables: set them again',
    '1 webhooks lost their custom headers: set them again',
    '1 webhooks lost their secret token: set it again',
    '1 webhooks lost their signing token: set it again',
    '2 private and impersonation tokens were replaced: their users must get the new ones',
    'the setting akismet_api_key is lost: set it again',
  ])
  await served(settings, async (ask) => {
    const { status, body } = await ask('/session', { login: 'root', password: MORTISE_ROOT_PASSWORD }, '')
    expect(status).toBe(201)
    const token = body.private_token as string
    expect(token).not.toBe(MORTISE_ROOT_TOKEN)
    expect((await ask('/user')).status).toBe(401)
    expect(await ask('/user', undefined, token)).toMatchObject({ status: 200, body: { private_token: token } })
    for (const path of ['/projects/1', '/projects/1/hooks', '/projects/1/invitations', '/application/settings'])
      expect([path, (await ask(path, undefined, token)).status]).toEqual([path, 200])
    expect((await ask('/users/1/impersonation_tokens', undefined, token)).body).toHaveLength(1)
  })
  expect(await unreadable(MORTISE_DATA, await readFile(file, 'utf8'))).toEqual([])
})

/** Columns of any table with a value that this key cannot decrypt. */
async function unreadable(data: string, key: string): Promise<string[]> {
  const { canOpen } = vault(Buffer.from(key, 'hex'))
  const store = await openStore(join(data, 'mortise.sqlite'), { durable: false, shared: true, poolSize: 1 })
  try {
    const tables = await store.db.introspection.getTables()
    const columns = tables.flatMap(({ name, columns }) => columns.map((column) => [name, column.name] as const))
    const sealed = columns.filter(([, column]) => /(^|_)sealed$|^check_value$/.test(column))
    expect(sealed).toHaveLength(22)
    const lost: string[] = []
    for (const [table, column] of sealed) {
      const query = sql<{
        text: string
      }>`select ${sql.ref(column)} as text from ${sql.table(table)} where ${sql.ref(column)} is not null`
      const { rows } = await query.execute(store.db)
      if (!rows.every(({ text }) => canOpen(text))) lost.push(`${table}.${column}`)
    }
    return lost
  } finally {
    await store.close()
  }
}
