import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hookReceiver, type HookReceiver, type Received } from '../../../../test/listening-hooks.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { HOOK_SWITCHES } from '../hooks/model.ts'
import type { Examples } from './examples/example.ts'
import { normalised } from './examples/normalised.ts'
import { projectExamples } from './examples/projects.ts'

let forge: TestForge
let receiver: HookReceiver
let instance: HookReceiver
let [ada, bob]: Person[] = []
beforeAll(async () => {
  forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  ;[receiver, instance] = [await hookReceiver(forge), await hookReceiver(forge)]
  ada = await forge.user({ username: 'ada', name: 'Ada' })
  bob = await forge.user({ username: 'bob', name: 'Bob' })
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await instance[Symbol.asyncDispose]()
  await forge.close()
})

const ALL = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, true]))

async function messagesFor(switches: Record<string, boolean> = ALL, path?: string) {
  const project = await forge.project({ ...(path && { path, name: path }) }, ada)
  const at = `/projects/${project.id}`
  await ada!.post(`${at}/members`, { user_id: bob!.id, access_level: 40 })
  const { body: hook } = await ada!.post(`${at}/hooks`, { url: receiver.url, push_events: false, ...switches })
  return { project, at, hook }
}

const HEADERS: Record<string, string> = {
  push: 'push_events',
  tag_push: 'tag_push_events',
  issue: 'issues_events',
  confidential_issue: 'confidential_issues_events',
  merge_request: 'merge_requests_events',
  note: 'note_events',
  confidential_note: 'confidential_note_events',
  wiki_page: 'wiki_page_events',
  release: 'releases_events',
  emoji: 'emoji_events',
}

test('every message is as its example', async () => {
  const { project, at } = await messagesFor(ALL, 'engine')
  const system = ['push_events', 'tag_push_events', 'merge_requests_events', 'repository_update_events'] as const
  await instance.hook('system', { on: system })
  const got: Record<string, Received & { switch: string | null }> = {}
  /** Names the messages of a step, in order. An empty name marks a message that another example covers. */
  const step = async (names: string[], work: () => Promise<unknown>, systemNames: string[] = []) => {
    await work()
    for (const [from, expected] of [
      [receiver, names],
      [instance, systemNames],
    ] as const) {
      const came = (await from.take()).filter(({ body }) => !isLifecycle(body))
      expect(came.map(({ body }) => kindOf(body))).toHaveLength(expected.length)
      for (const [n, name] of expected.entries())
        if (name !== '') got[name] = { ...came[n]!, switch: switchOf(came[n]!) }
    }
  }
  /** Every system hook receives these; they have examples of their own. */
  const isLifecycle = (body: Record<string, unknown>) =>
    body.object_kind === undefined && body.event_name !== 'repository_update'
  const kindOf = (body: Record<string, Record<string, unknown>>) =>
    [body.object_kind ?? body.event_name, body.object_attributes?.action].join(' ')
  const switchOf = ({ body }: Received) => {
    if (body.event_name === 'repository_update') return 'repository_update_events'
    return HEADERS[body.object_kind === 'emoji' ? 'emoji' : (body.event_type ?? body.object_kind)] ?? null
  }
  const files = { 'README.md': '# Engine\n', 'src/main.ts': 'export {}\n' }
  await step(['push_first'], () => forge.seed(project, files, { as: ada, message: 'Start\n\nAll of it' }), [
    'system_push',
    'system_repository_update',
  ])
  const commit = {
    branch: 'feature',
    start_branch: 'master',
    commit_message: 'Turn\n',
    actions: [
      { action: 'create', file_path: 'wheel.ts', content: 'wheel' },
      { action: 'update', file_path: 'src/main.ts', content: 'import' },
      { action: 'move', file_path: 'docs/README.md', previous_path: 'README.md' },
    ],
  }
  await step(['push_new_branch'], () => ada!.post(`${at}/repository/commits`, commit), ['', ''])
  await step(['push'], () => forge.seed(project, { 'src/main.ts': null }, { as: bob, branch: 'feature' }), ['', ''])
  await step(
    ['tag_push'],
    () => ada!.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'master', message: 'One' }),
    ['system_tag_push', ''],
  )
  await step(['release_create'], () =>
    ada!.post(`${at}/releases`, {
      tag_name: 'v1',
      name: 'First',
      description: 'See ![it](/uploads/0123/it.png)',
      assets: { links: [{ name: 'binary', url: 'https://example.com/engine' }] },
    }),
  )
  await step(['release_update'], () => ada!.put(`${at}/releases/v1`, { name: 'The first' }))
  await step(['tag_push_delete', 'release_delete'], () => ada!.delete(`${at}/repository/tags/v1`), ['', ''])

  const label = await forge.label(project, { name: 'bug' }, ada)
  const input = { title: 'It stops', description: '![Smoke](/uploads/0123/smoke.png)', assignee_ids: bob!.id }
  await step(['issue_open'], () => ada!.post(`${at}/issues`, input))
  await step(['issue_update'], () => bob!.put(`${at}/issues/1`, { labels: label.name, title: 'It stops at times' }))
  await step(['issue_time'], () => bob!.post(`${at}/issues/1/add_spent_time`, { duration: '1h' }))
  await step(['issue_close', 'issue_close_update'], () =>
    bob!.put(`${at}/issues/1`, { state_event: 'close', due_date: '2026-12-01' }),
  )
  await step(['issue_reopen'], () => bob!.put(`${at}/issues/1`, { state_event: 'reopen' }))
  await step(['note_on_issue'], () => ada!.post(`${at}/issues/1/notes`, { body: 'Which ![one](one.png)?' }))
  await step(['note_update'], async () => {
    const [{ id }] = (await ada!.get(`${at}/issues/1/notes?activity_filter=only_comments`)).body
    await bob!.put(`${at}/issues/1/notes/${id}`, { body: 'Which one is it?' })
  })
  await step(['emoji_award', 'emoji_revoke'], async () => {
    const { body } = await ada!.post(`${at}/issues/1/award_emoji`, { name: 'thumbsup' })
    await ada!.delete(`${at}/issues/1/award_emoji/${body.id}`)
  })
  await step(['emoji_award_on_note'], async () => {
    const notes = (await ada!.get(`${at}/issues/1/notes`)).body as { id: number; system: boolean }[]
    const { id } = notes.find(({ system }) => !system)!
    await ada!.post(`${at}/issues/1/notes/${id}/award_emoji`, { name: 'tada' })
  })
  await step(['issue_confidential'], () => ada!.post(`${at}/issues`, { title: 'Keys', confidential: true }))
  await step(['note_confidential'], () => ada!.post(`${at}/issues/2/notes`, { body: 'All of them' }))
  await step(['note_on_snippet'], async () => {
    const snippet = await forge.snippet(project, { title: 'Start it' }, ada)
    await ada!.post(`${at}/snippets/${snippet.id}/notes`, { body: 'Works' })
  })
  await step(['note_on_commit'], () =>
    ada!.post(`${at}/repository/commits/master/comments`, { note: 'Nice', path: 'src/main.ts', line: 1 }),
  )

  await ada!.post(`${at}/approvals`, { approvals_before_merge: 2 })
  const proposal = { source_branch: 'feature', target_branch: 'master', title: 'Wheels', reviewer_ids: [bob!.id] }
  await step(['merge_request_open'], () => ada!.post(`${at}/merge_requests`, proposal), [''])
  const mr = `${at}/merge_requests/1`
  await step(['merge_request_update'], () => ada!.put(mr, { title: 'Draft: Wheels', labels: 'bug' }), [''])
  await step(['note_on_merge_request'], () => bob!.post(`${mr}/notes`, { body: 'Round?' }))
  await step(
    ['push_to_merge_request', 'merge_request_push'],
    () => forge.seed(project, { 'axle.ts': 'axle' }, { as: ada, branch: 'feature', message: 'Axle' }),
    ['', '', 'system_merge_request'],
  )
  await step(['merge_request_close'], () => ada!.put(mr, { state_event: 'close' }), [''])
  await step(['merge_request_reopen'], () => ada!.put(mr, { state_event: 'reopen' }), [''])
  await ada!.put(mr, { title: 'Wheels' })
  await ada!.post(`${at}/merge_requests/1/approvals`, { approvals_required: 2 })
  await Promise.all([receiver.take(), instance.take()])
  const root = forge.administrator
  await step(['merge_request_approval'], () => bob!.post(`${mr}/approve`), [''])
  await step(['merge_request_approved'], () => root.post(`${mr}/approve`), [''])
  await step(['merge_request_unapproved'], () => root.post(`${mr}/unapprove`), [''])
  await step(['merge_request_unapproval'], () => bob!.post(`${mr}/unapprove`), [''])
  await ada!.post(`${at}/approvals`, { approvals_before_merge: 0 })
  await step(
    ['push_of_merge', 'merge_request_merge', 'push_delete_branch'],
    () => ada!.put(`${mr}/merge`, { should_remove_source_branch: true }),
    ['', '', '', '', ''],
  )
  await step(['wiki_page_create'], () =>
    ada!.post(`${at}/wikis`, { title: 'How to', content: '![a](/uploads/1/a.png)' }),
  )
  await step(['wiki_page_update'], () => bob!.put(`${at}/wikis/How-to`, { content: 'Turn it' }))
  await step(['wiki_page_delete'], () => ada!.delete(`${at}/wikis/How-to`))

  const made: Examples = Object.fromEntries(
    Object.entries(got).map(([name, { header, body, switch: expected }]) => [
      name,
      { header, switch: expected, body: normalised(body, forge.url) },
    ]),
  )
  if (process.env['UPDATE_EXAMPLES']) {
    await writeFile(new URL('examples/projects.json', import.meta.url), `${JSON.stringify(made, null, 2)}\n`)
  }
  expect(Object.keys(made)).toEqual(Object.keys(projectExamples))
  for (const [name, example] of Object.entries(made)) expect(example, name).toEqual(projectExamples[name])
})
