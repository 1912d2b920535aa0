import { expect, test } from 'vitest'
import { MINUTE } from '../../../clock.ts'
import { startForge } from '../../../forge.ts'

/** The kind of message that each switch has as a sample. */
const KINDS: Record<string, string> = {
  push_events: 'push',
  tag_push_events: 'tag_push',
  issues_events: 'issue',
  confidential_issues_events: 'issue',
  merge_requests_events: 'merge_request',
  note_events: 'note',
  confidential_note_events: 'note',
  job_events: 'build',
  pipeline_events: 'pipeline',
  wiki_page_events: 'wiki_page',
  releases_events: 'release',
  emoji_events: 'emoji',
}

test('every switch is tested with something of the project, and without anything it says what is missing', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const receiver = await forge.receiver()
  const bare = await forge.project({}, owner)
  const project = await forge.project({}, owner)
  const at = `/projects/${project.id}`
  await forge.seed(project, { '.gitlab-ci.yml': 'job: { script: [make] }\n' }, { as: owner })
  const hidden = await forge.issue(project, { title: 'Hidden', confidential: true }, owner)
  await forge.note(hidden, { body: 'Psst' }, owner)
  const issue = await forge.issue(project, { title: 'Open' }, owner)
  await forge.note(issue, { body: 'Hear, hear' }, owner)
  await owner.post(`${at}/issues/${issue.iid}/award_emoji`, { name: 'owl' })
  await forge.mergeRequest(project, { source_branch: 'feature' }, owner)
  await owner.post(`${at}/wikis`, { title: 'Home', content: 'Welcome' })
  await owner.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  await owner.post(`${at}/releases`, { tag_name: 'v1' })
  await forge.settle()

  const hookOf = async (id: number) =>
    `/projects/${id}/hooks/${(await owner.post(`/projects/${id}/hooks`, { url: receiver.url })).body.id}`
  const [full, empty] = [await hookOf(project.id), await hookOf(bare.id)]
  const sent: Record<string, unknown> = {}
  for (const trigger of Object.keys(KINDS)) {
    // Tests of one hook are rate limited per minute.
    forge.clock.advance(MINUTE)
    const before = receiver.deliveries.length
    const { status } = await owner.post(`${full}/test/${trigger}`)
    const body = receiver.deliveries.at(-1)?.body as { object_kind: string } | undefined
    sent[trigger] = status === 201 && receiver.deliveries.length === before + 1 ? body?.object_kind : status
  }
  expect(sent).toEqual(KINDS)

  const delivered = receiver.deliveries.length
  for (const trigger of Object.keys(KINDS)) {
    forge.clock.advance(MINUTE)
    const { status, body } = await owner.post(`${empty}/test/${trigger}`)
    expect([trigger, status, body.message]).toEqual([trigger, 422, expect.stringMatching(/^Ensure the project has /)])
  }
  expect(receiver.deliveries).toHaveLength(delivered)
})
