import { expect, test } from 'vitest'
import { atOnce } from '../../../../test/at-once.ts'
import { addMember } from '../../../../test/cast.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

/** Jane's project with a commit on `master`, and a developer. */
async function stage(forge: TestForge) {
  const jane = await forge.user({ username: 'jane' })
  const dev = await forge.user({ username: 'dev' })
  const project = await forge.project({ path: 'engine' }, jane)
  await addMember(forge, { project_id: project.id }, dev.id, 30)
  const { id: root } = await forge.seed(project, { a: 'a\n' }, { as: jane })
  const url = `/projects/${project.id}`
  const changes = `${url}/repository/ref_changes`
  const listed = async (ref?: string, who: Person = jane) => (await who.get(changes, ref ? { ref } : {})).body
  const undo = (id: number, who: Person = jane) => who.post(`${changes}/${id}/undo`)
  const tip = async (branch: string): Promise<string | null> =>
    (await jane.get(`${url}/repository/branches/${branch}`)).body.commit?.id ?? null
  return { jane, dev, project, root, url, changes, listed, undo, tip }
}

const TOPIC = 'refs/heads/topic'
const MOVED = { message: 'The ref has moved since this change' }

test('every door to a ref is listed, newest first, and a refused change is not', async () => {
  await using forge = await startForge()
  const { jane, root, url, changes, listed, tip } = await stage(forge)
  await jane.post(`${url}/repository/branches`, { branch: 'topic', ref: 'master' })
  await jane.post(`${url}/repository/files/b`, { branch: 'topic', content: 'b\n', commit_message: 'Add b' })
  const after = await tip('topic')
  await jane.delete(`${url}/repository/branches/topic`)
  await jane.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  await jane.post(`${url}/wikis`, { title: 'Home', content: 'x' })
  expect((await jane.delete(`${url}/repository/branches/master`)).status).toBe(400)

  const [deletion, push, creation, ...none] = await listed(TOPIC)
  const by = { ref: TOPIC, user: { username: 'jane' } }
  expect([deletion, push, creation, ...none]).toMatchObject([
    { ...by, before: after, after: null, current: true },
    { ...by, before: root, after, current: false },
    { ...by, before: null, after: root, current: false },
  ])
  expect(Object.keys(deletion)).toEqual(['id', 'ref', 'before', 'after', 'user', 'created_at', 'current'])
  expect((await listed()).map(({ ref }: { ref: string }) => ref)).toEqual([
    'refs/tags/v1',
    TOPIC,
    TOPIC,
    TOPIC,
    'refs/heads/master',
  ])
  expect((await jane.get(`${url}/wikis/ref_changes`)).body).toMatchObject([
    { ref: 'refs/heads/master', before: null, user: { username: 'jane' } },
  ])
  expect(await listed('refs/heads/unknown')).toEqual([])
  const { headers, body } = await jane.get(changes, { per_page: 2, page: 2 })
  expect([body.length, headers.get('x-next-page')]).toEqual([2, '3'])
  for (const ref of ['topic', 'refs/heads/a..b', 'refs/heads/', '\0'])
    expect((await jane.get(changes, { ref })).status).toBe(400)
})

test('a list costs the same queries for any number of changes', async () => {
  await using forge = await startForge()
  const { jane, dev, url, changes } = await stage(forge)
  const count = () => forge.queries(() => jane.get(changes))
  await count()
  const few = await count()
  for (let n = 0; n < 5; n++)
    await (n % 2 ? dev : jane).post(`${url}/repository/branches`, { branch: `b${n}`, ref: 'master' })
  await forge.settle()
  expect(await count()).toBe(few)
})

test('a deletion, a creation, a push and a force push are undone, and so is an undo', async () => {
  await using forge = await startForge()
  const { dev, root, url, listed, undo, tip } = await stage(forge)
  await dev.post(`${url}/repository/branches`, { branch: 'topic', ref: 'master' })
  await dev.post(`${url}/repository/files/b`, { branch: 'topic', content: 'b\n', commit_message: 'Add b' })
  const second = await tip('topic')
  await dev.delete(`${url}/repository/branches/topic`)

  const [deletion] = await listed(TOPIC)
  const back = await undo(deletion.id, dev)
  expect(back).toMatchObject({
    status: 201,
    body: { ref: TOPIC, before: null, after: second, user: { username: 'dev' }, current: true },
  })
  expect(await tip('topic')).toBe(second)
  expect((await undo(back.body.id)).body).toMatchObject({ before: second, after: null, user: { username: 'jane' } })
  expect(await tip('topic')).toBeNull()

  const again = await undo((await listed(TOPIC))[0].id)
  expect([again.status, await tip('topic')]).toEqual([201, second])
  await using work = await workspace()
  await work.git('clone', '-q', addressFor(forge, 'jane/engine', dev), 'src')
  expect((await work.git('-C', 'src', 'push', '-f', 'origin', `${root}:refs/heads/topic`)).code).toBe(0)
  const [forced] = await listed(TOPIC)
  expect(forced).toMatchObject({ before: second, after: root, user: { username: 'dev' } })
  expect([(await undo(forced.id, dev)).status, await tip('topic')]).toEqual([201, second])

  const events = await forge.events()
  expect(events.filter((name) => name === 'repository.changed')).toHaveLength(9)
})

test.each(['API', 'git push'])('the release of a tag that was deleted by %s returns with the tag', async (door) => {
  await using forge = await startForge()
  const { jane, dev, project, url, changes, listed, undo } = await stage(forge)
  const REF = 'refs/tags/v1'
  await forge.milestone(project, { title: 'First' }, jane)
  const link = { name: 'log', url: 'https://log.example/1' }
  const release = { tag_name: 'v1', ref: 'master', name: 'One', description: 'Runs', milestones: ['First'] }
  const made = await jane.post(`${url}/releases`, { ...release, assets: { links: [link] } })
  expect(made.status).toBe(201)
  const read = async () => (await jane.get(`${url}/releases/v1`)).body
  const before = await read()
  const remove = async () => {
    if (door === 'API') return jane.delete(`${url}/repository/tags/v1`)
    await using clone = await workspace()
    await clone.git('init', '-q')
    await clone.git('push', '-q', addressFor(forge, project.path_with_namespace, jane), `:${REF}`)
  }
  await remove()
  await forge.settle()
  expect(await read()).toEqual({ message: expect.any(String) })

  // Creating the same tag again is no undo: pipelines of tags create their own release.
  await jane.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  expect((await jane.get(`${url}/releases`)).body).toEqual([])
  const [creation, deletion] = await listed(REF)
  expect((await undo(creation.id)).status).toBe(201)
  expect((await jane.get(`${url}/releases`)).body).toEqual([])

  const answers = await atOnce(
    forge,
    () => undo(deletion.id),
    () => undo(deletion.id, dev),
  )
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
  expect(await read()).toEqual(before)

  // A change that is forgotten takes the release along.
  await remove()
  const [last] = await listed(REF)
  expect((await jane.delete(`${changes}/${last.id}`)).status).toBe(204)
  expect(await forge.app.db.selectFrom('deleted_releases').selectAll().execute()).toEqual([])
})

test('an undo is a push to pipelines, merge requests and webhooks', async () => {
  await using forge = await startForge()
  const { jane, project, url, listed, undo, tip } = await stage(forge)
  const receiver = await forge.receiver()
  await jane.post(`${url}/hooks`, { url: receiver.url, push_events: true })
  const config = 'job:\n  script: [true]\n'
  await forge.seed(project, { '.gitlab-ci.yml': config }, { branch: 'topic', as: jane })
  const sha = await tip('topic')
  const request = { source_branch: 'topic', target_branch: 'master', title: 'Change' }
  const { iid } = (await jane.post(`${url}/merge_requests`, request)).body
  await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  await forge.settle()
  receiver.clear()
  const [push] = await listed(TOPIC)
  expect((await undo(push.id)).status).toBe(201)
  await forge.settle()
  expect(await receiver.next('push')).toMatchObject({ body: { ref: TOPIC, before: push.after, after: sha } })
  expect((await jane.get(`${url}/merge_requests/${iid}`)).body.sha).toBe(sha)
  const pipelines = (await jane.get(`${url}/pipelines`, { ref: 'topic' })).body
  expect(pipelines.map((one: { sha: string }) => one.sha)).toEqual([sha, push.after, sha])
})

test('a ref that moved since answers 409, and so does the slower of two', async () => {
  await using forge = await startForge()
  const { jane, dev, root, url, listed, undo, tip } = await stage(forge)
  const branch = { branch: 'topic', ref: 'master' }
  await jane.post(`${url}/repository/branches`, branch)
  await jane.delete(`${url}/repository/branches/topic`)
  await jane.post(`${url}/repository/branches`, branch)
  const [current, deletion] = await listed(TOPIC)
  const events = await forge.events()
  expect(await undo(deletion.id)).toMatchObject({ status: 409, body: MOVED })
  expect([await tip('topic'), await forge.events()]).toEqual([root, events])

  const answers = await atOnce(
    forge,
    () => undo(current.id, jane),
    () => undo(current.id, dev),
  )
  expect(answers.map(({ status }) => status)).toEqual([201, 409])
  expect(await tip('topic')).toBeNull()
  expect(await listed(TOPIC)).toHaveLength(4)
})

test('changes are undone one after the other, back to the first', async () => {
  await using forge = await startForge()
  const { jane, root, url, listed, undo, tip } = await stage(forge)
  await jane.post(`${url}/repository/branches`, { branch: 'topic', ref: 'master' })
  for (const name of ['b', 'c'])
    await jane.post(`${url}/repository/files/${name}`, { branch: 'topic', content: 'x', commit_message: 'Add' })
  const [last, push] = await listed(TOPIC)
  expect(await undo(push.id)).toMatchObject({ status: 409, body: MOVED })
  expect((await undo(last.id)).body).toMatchObject({ before: last.after, after: last.before })
  const second = await undo(push.id)
  expect(second).toMatchObject({ status: 201, body: { before: push.after, after: root, current: true } })
  expect(await tip('topic')).toBe(root)
  // The branch goes forward again, and back again by a new change.
  await undo(second.body.id)
  expect((await undo(push.id)).body.id).toBeGreaterThan(second.body.id)
  expect(await tip('topic')).toBe(root)
})

test('what the gate refuses of a push it refuses of an undo, and nothing moves', async () => {
  await using forge = await startForge()
  const { jane, dev, project, root, url, changes, listed, undo, tip } = await stage(forge)
  await forge.seed(project, { b: 'b\n' }, { branch: 'topic', as: jane })
  const second = await tip('topic')
  await using work = await workspace()
  await work.git('clone', '-q', addressFor(forge, 'jane/engine', jane), 'src')
  await work.git('-C', 'src', 'push', '-f', 'origin', `${root}:refs/heads/topic`)
  await jane.post(`${url}/protected_branches`, { name: 'topic' })
  await jane.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master' })
  await jane.delete(`${url}/repository/tags/v1`)
  await jane.post(`${url}/protected_tags`, { name: 'v*' })
  await forge.seed(project, { c: 'c\n' }, { branch: 'topic', as: jane })
  const [push, forced] = await listed(TOPIC)
  const [deleted] = await listed('refs/tags/v1')
  const master = (await listed('refs/heads/master')).at(-1)
  const before = await tip('topic')
  const table: [Person, number, string][] = [
    [jane, push.id, 'You are not allowed to force push code to a protected branch on this project.'],
    [dev, push.id, 'You are not allowed to force push code to a protected branch on this project.'],
    [dev, deleted.id, 'You are not allowed to create this tag as it is protected.'],
    [jane, master.id, 'The default branch of a project cannot be deleted.'],
  ]
  for (const [who, id, message] of table) expect(await undo(id, who)).toMatchObject({ status: 400, body: { message } })
  expect([await tip('topic'), await tip('master')]).toEqual([before, root])

  await jane.delete(`${url}/protected_branches/topic`)
  expect((await undo(push.id)).status).toBe(201)
  await jane.post(`${url}/protected_branches`, { name: 'topic', allow_force_push: true })
  const [undone] = await listed(TOPIC)
  const answer = await undo(undone.id, dev)
  expect(answer).toMatchObject({
    status: 400,
    body: { message: 'You are not allowed to push code to protected branches on this project.' },
  })
  expect((await undo(undone.id)).status).toBe(201)
  expect(await tip('topic')).toBe(push.after)
  expect(forced).toMatchObject({ before: second, after: root })

  await jane.post(`${url}/archive`)
  const [last] = await listed(TOPIC)
  expect((await undo(last.id)).status).toBe(403)
  await jane.post(`${url}/unarchive`)
  const other = await forge.project({}, jane)
  expect((await jane.post(`/projects/${other.id}/repository/ref_changes/${last.id}/undo`)).status).toBe(404)
  expect((await jane.post(`${changes}/999999/undo`)).status).toBe(404)
  expect((await jane.post(`${url}/wikis/ref_changes/${last.id}/undo`)).status).toBe(404)
  expect(await tip('topic')).toBe(push.after)
})

test('a deleted wiki page comes back whole, also after changes of other pages', async () => {
  await using forge = await startForge()
  const { jane, dev, url } = await stage(forge)
  const wikis = `${url}/wikis`
  await jane.post(wikis, { title: 'docs/Home', content: 'Welcome', format: 'asciidoc' })
  await jane.put(`${wikis}/docs%2FHome`, { content: 'Welcome all' })
  await jane.post(wikis, { title: 'Other', content: 'x' })
  const whole = async () => [
    (await jane.get(`${wikis}/docs%2FHome`)).body,
    (await jane.get(`${wikis}/docs%2FHome/history`)).body.map(({ message }: { message: string }) => message.trim()),
  ]
  const [page] = await whole()
  await jane.delete(`${wikis}/docs%2FHome`)
  const changes = async () => (await jane.get(`${wikis}/ref_changes`)).body
  const undo = (id: number, who: Person) => who.post(`${wikis}/ref_changes/${id}/undo`)
  const [deletion] = await changes()
  expect(deletion).toMatchObject({ current: true, message: 'jane deleted page: Home', user: { username: 'jane' } })

  // Nothing has changed since: the ref moves back.
  expect(await undo(deletion.id, dev)).toMatchObject({ status: 201, body: { user: { username: 'dev' } } })
  expect((await whole())[0]).toEqual(page)

  // Another page has changed since.
  await jane.delete(`${wikis}/docs%2FHome`)
  await jane.put(`${wikis}/Other`, { content: 'y' })
  const [edit, again] = await changes()
  const undone = await undo(again.id, dev)
  expect(undone).toMatchObject({ status: 201, body: { before: edit.after, user: { username: 'dev' }, current: true } })
  expect(await whole()).toEqual([
    page,
    [
      `dev undid a change: ${again.after.slice(0, 8)}`,
      'jane deleted page: Home',
      'jane updated page: Home',
      'jane created page: Home',
    ],
  ])
  expect((await jane.get(`${wikis}/Other`)).body).toMatchObject({ content: 'y' })
  // The undoing is a change, too.
  expect((await undo(edit.id, jane)).status).toBe(201)
  expect((await jane.get(`${wikis}/Other`)).body).toMatchObject({ content: 'x' })
})

test('a wiki change is not undone over later changes of the same pages', async () => {
  await using forge = await startForge()
  const { jane, url } = await stage(forge)
  const wikis = `${url}/wikis`
  await jane.post(wikis, { title: 'Home', content: 'one' })
  await jane.put(`${wikis}/Home`, { content: 'two' })
  await jane.put(`${wikis}/Home`, { content: 'three' })
  await jane.post(wikis, { title: 'Gone', content: 'x' })
  await jane.delete(`${wikis}/Gone`)
  await jane.post(wikis, { title: 'gone', content: 'another', format: 'rdoc' })
  const before = (await jane.get(`${wikis}/ref_changes`)).body
  const [, deletion, , , second, first] = before
  const undo = (id: number) => jane.post(`${wikis}/ref_changes/${id}/undo`)
  for (const { id } of [deletion, second, first])
    expect(await undo(id)).toMatchObject({
      status: 409,
      body: { message: 'The pages of this change have changed since' },
    })
  expect((await jane.get(`${wikis}/ref_changes`)).body).toEqual(before)
  expect((await jane.get(`${wikis}/Home`)).body.content).toBe('three')
  expect((await jane.get(`${wikis}/gone`)).body.content).toBe('another')
})
