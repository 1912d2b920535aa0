import { expect, test } from 'vitest'
import { callersOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

const headers: unknown = expect.anything()
const NULL = { status: 200, body: null, headers }
const NONE = { status: 404, body: { message: '404 Push Rule Not Found' }, headers }

const blank = {
  commit_message_regex: '',
  commit_message_negative_regex: '',
  branch_name_regex: '',
  author_email_regex: '',
  file_name_regex: '',
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_committer_check: false,
  reject_unsigned_commits: false,
  max_file_size: 0,
}

const full = {
  commit_message_regex: 'Fixed \\d+\\..*',
  commit_message_negative_regex: '(?i)wip',
  branch_name_regex: '^(feature|hotfix)\\/*',
  author_email_regex: '@my-company\\.com$',
  file_name_regex: '(jar|exe)$',
  deny_delete_tag: true,
  member_check: true,
  prevent_secrets: true,
  commit_committer_check: true,
  reject_unsigned_commits: true,
  max_file_size: 5,
}

test('a project has one push rule or none', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const path = `${url}/push_rule`
  const events = await forge.events()
  expect(await owner.get(path)).toEqual(NULL)
  expect(await owner.put(path, { member_check: true })).toEqual(NONE)
  expect(await owner.delete(path)).toMatchObject({ status: 204, body: '' })

  const { status, body: rule } = await owner.post(path, { deny_delete_tag: true })
  expect(rule).toEqual({
    ...blank,
    deny_delete_tag: true,
    id: expect.any(Number),
    project_id: id,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect(status).toBe(201)
  expect(await owner.get(path)).toEqual({ status: 200, body: rule, headers })
  expect(await owner.post(path, { member_check: true })).toEqual({
    status: 422,
    body: { error: 'Project push rule exists' },
    headers,
  })
  expect((await owner.get(path)).body).toEqual(rule)

  expect(await owner.put(path, full)).toEqual({ status: 200, body: { ...rule, ...full }, headers })
  expect((await owner.put(path, { member_check: false })).body).toEqual({ ...rule, ...full, member_check: false })
  const cleared = { branch_name_regex: '', file_name_regex: null, max_file_size: '', prevent_secrets: null }
  expect((await owner.put(path, cleared)).body).toEqual({
    ...rule,
    ...full,
    member_check: false,
    branch_name_regex: '',
    file_name_regex: '',
    max_file_size: 0,
    prevent_secrets: false,
  })

  for (let n = 0; n < 2; n++) expect(await owner.delete(path)).toMatchObject({ status: 204, body: '' })
  expect(await owner.get(path)).toEqual(NULL)
  expect(await forge.events()).toEqual(events)
})

test('of two who add one at once, one does', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const answers = await Promise.all([1, 2].map((size) => owner.post(`${url}/push_rule`, { max_file_size: size })))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
  expect((await owner.get(`${url}/push_rule`)).body).toEqual(answers.find(({ status }) => status === 201)!.body)
})

const nothing = `${[
  'deny_delete_tag, member_check, prevent_secrets, commit_message_regex, commit_message_negative_regex',
  'branch_name_regex, author_email_regex, file_name_regex, max_file_size, commit_committer_check',
  'reject_unsigned_commits',
].join(', ')} are missing, at least one parameter must be provided`
const refusal = (text: string) => ({ message: text, error: text })
const bad = (pattern: string, reason: string) => [`Regular expression '${pattern}' is invalid: ${reason}`]

test('refuses what cannot be a rule, and nothing moves', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const path = `${url}/push_rule`
  const refusals: [Record<string, unknown>, unknown][] = [
    [{ member_check: 'perhaps' }, refusal('member_check is invalid')],
    [{ max_file_size: '12x' }, refusal('max_file_size is invalid')],
    [{ max_file_size: -1 }, { message: { max_file_size: ['must be greater than or equal to 0'] } }],
    [{ max_file_size: 2 ** 31 }, { message: { max_file_size: ['must be less than or equal to 2147483647'] } }],
    [{ branch_name_regex: '(' }, { message: { branch_name_regex: bad('(', 'missing closing )') } }],
    [
      { commit_message_regex: 'a**', file_name_regex: '(?=x)', member_check: true },
      {
        message: {
          commit_message_regex: bad('a**', 'invalid nested repetition operator'),
          file_name_regex: bad('(?=x)', 'invalid or unsupported Perl syntax'),
        },
      },
    ],
    [
      { author_email_regex: 'x'.repeat(512) },
      { message: { author_email_regex: ['is too long (maximum is 511 characters)'] } },
    ],
  ]
  for (const [input, body] of refusals) expect(await owner.post(path, input)).toEqual({ status: 400, body, headers })
  expect(await owner.get(path)).toEqual(NULL)
  const { body: rule } = await owner.post(path, { author_email_regex: 'x'.repeat(511) })
  const changes: typeof refusals = [...refusals, [{}, refusal(nothing)], [{ unknown: true }, refusal(nothing)]]
  for (const [input, body] of changes) expect(await owner.put(path, input)).toEqual({ status: 400, body, headers })
  expect((await owner.get(path)).body).toEqual(rule)
})

test('masters and above see and change the rule', async () => {
  await using forge = await startForge()
  const secret = await openSource(forge, 'projects')
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  for (const source of [secret, open]) {
    const path = `${source.url}/push_rule`
    const callers = await callersOf(forge, source)
    const outside = source === secret ? 404 : 403
    // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
    const expected = (...may: [number, number, number]) => [401, outside, outside, 403, 403, 403, ...may, 401]
    const request = { member_check: true }

    expect(await statusesOf(callers, (caller) => caller.get(path))).toEqual(expected(200, 200, 200))
    expect(await statusesOf(callers, (caller) => caller.post(path, request))).toEqual(expected(201, 422, 422))
    expect(await statusesOf(callers, (caller) => caller.get(path))).toEqual(expected(200, 200, 200))
    const { body: before } = await source.owner.get(path)
    for (const name of ['anonymous', 'stranger', 'guest', 'developer', 'blocked'] as const) {
      expect((await callers[name].put(path, { member_check: false })).status).toBeGreaterThan(400)
      expect((await callers[name].delete(path)).status).toBeGreaterThan(400)
    }
    expect((await source.owner.get(path)).body).toEqual(before)
    expect(await statusesOf(callers, (caller) => caller.put(path, request))).toEqual(expected(200, 200, 200))
    expect(await statusesOf(callers, (caller) => caller.delete(path))).toEqual(expected(204, 204, 204))
  }
})
