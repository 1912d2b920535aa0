import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(() => forge.close())

const iidsOf = (body: { iid: number }[]) => body.map(({ iid }) => iid)

test('filters and orders of a project’s list', async () => {
  const { administrator: root } = forge
  const [jane, joe] = [await forge.user(), await forge.user()]
  const project = await forge.project({ visibility: 'public' })
  for (const { id } of [jane, joe])
    await root.post(`/projects/${project.id}/members`, { user_id: id, access_level: 30 })
  const milestone = await forge.milestone(project, { title: 'v1' })
  const url = `/projects/${project.id}/merge_requests`
  await forge.seed(project, { 'a.txt': 'a\n' })
  await root.post(`/projects/${project.id}/repository/branches`, { branch: 'stable', ref: 'master' })
  await forge.mergeRequest(project, { source_branch: 'one', title: 'The engine' }, jane)
  await forge.mergeRequest(project, { source_branch: 'two', title: 'Draft: An organ' }, jane)
  await forge.mergeRequest(project, { source_branch: 'three', title: 'Piano', target_branch: 'stable' }, joe)
  await forge.mergeRequest(project, { source_branch: 'four', title: 'Zither', description: 'No engine' }, joe)
  await root.put(`${url}/1`, { labels: 'bug,later', assignee_ids: [joe.id], milestone_id: milestone.id })
  await root.put(`${url}/2`, { labels: 'bug', reviewer_ids: [joe.id] })
  await joe.post(`${url}/1/approve`)
  await forge.app.db.updateTable('merge_requests').set({ upvotes: 5 }).where('iid', '=', 1).execute()
  expect(await root.put(`${url}/3/merge`)).toMatchObject({ status: 200 })
  await root.put(`${url}/4`, { state_event: 'close' })
  const rule = { name: 'Two', approvals_required: 1, user_ids: [jane.id, joe.id] }
  expect((await root.post(`${url}/2/approval_rules`, rule)).status).toBe(201)
  await forge.settle()
  const { db } = forge.app
  for (const [iid, day] of [
    [1, '01'],
    [2, '03'],
    [3, '02'],
    [4, '04'],
  ] as const) {
    const at = `2020-01-${day}T00:00:00.000Z`
    await db.updateTable('merge_requests').set({ created_at: at, updated_at: at }).where('iid', '=', iid).execute()
  }

  const at = '2020-01-01T00:00:00.000Z'
  const { id: merge_request_id } = (await joe.get(`${url}/2`)).body
  await sql`insert into award_emoji (user_id, name, merge_request_id, created_at, updated_at)
    values (${joe.id}, 'owl', ${merge_request_id}, ${at}, ${at})`.execute(db)

  const table: [Record<string, unknown>, number[]][] = [
    [{}, [4, 2, 3, 1]],
    [{ state: 'all' }, [4, 2, 3, 1]],
    [{ state: 'opened' }, [2, 1]],
    [{ state: 'closed' }, [4]],
    [{ state: 'merged' }, [3]],
    [{ sort: 'asc' }, [1, 3, 2, 4]],
    [{ order_by: 'updated_at', sort: 'asc' }, [1, 3, 2, 4]],
    [{ order_by: 'title', sort: 'asc' }, [2, 3, 1, 4]],
    [{ order_by: 'popularity' }, [1, 4, 3, 2]],
    [{ order_by: 'merged_at' }, [3, 4, 2, 1]],
    [{ order_by: 'merged_at', sort: 'asc' }, [3, 1, 2, 4]],
    [{ milestone: 'v1' }, [1]],
    [{ milestone: 'No Milestone' }, [4, 2, 3]],
    [{ milestone: 'v' }, []],
    [{ labels: 'bug' }, [2, 1]],
    [{ labels: 'bug,later' }, [1]],
    [{ labels: 'No Label' }, [4, 3]],
    [{ labels: 'Any' }, [2, 1]],
    [{ created_after: '2020-01-03T00:00:00Z' }, [4, 2]],
    [{ created_before: '2020-01-02T00:00:00Z' }, [3, 1]],
    [{ updated_after: '2020-01-04T00:00:00Z' }, [4]],
    [{ updated_before: '2020-01-01T00:00:00Z' }, [1]],
    [{ scope: 'created-by-me' }, [4, 3]],
    [{ scope: 'created_by_me' }, [4, 3]],
    [{ scope: 'assigned-to-me' }, [1]],
    [{ scope: 'assigned_to_me' }, [1]],
    [{ scope: 'reviews_for_me' }, [2]],
    [{ scope: 'all' }, [4, 2, 3, 1]],
    [{ author_id: jane.id }, [2, 1]],
    [{ author_id: 999 }, []],
    [{ author_username: joe.username }, [4, 3]],
    [{ author_username: 'nobody' }, []],
    [{ assignee_id: joe.id }, [1]],
    [{ assignee_id: 0 }, [4, 2, 3]],
    [{ assignee_id: 'Any' }, [1]],
    [{ assignee_username: joe.username }, [1]],
    [{ reviewer_id: joe.id }, [2]],
    [{ reviewer_id: 'None' }, [4, 3, 1]],
    [{ reviewer_id: 'Any' }, [2]],
    [{ reviewer_username: joe.username }, [2]],
    [{ reviewer_username: 'nobody' }, []],
    [{ approved_by_ids: [joe.id] }, [1]],
    [{ approved_by_ids: [joe.id, jane.id] }, []],
    [{ approved_by_ids: 'None' }, [4, 2, 3]],
    [{ approved_by_ids: 'Any' }, [1]],
    [{ approved: 'yes' }, [1]],
    [{ approved: 'no' }, [4, 2, 3]],
    [{ approved: '' }, [4, 2, 3, 1]],
    [{ approved: 'yes', approved_by_ids: [joe.id] }, [1]],
    [{ approved: 'no', approved_by_ids: 'Any' }, []],
    [{ approver_ids: [jane.id] }, [2]],
    [{ approver_ids: [jane.id, joe.id] }, [2]],
    [{ approver_ids: [jane.id, root.id] }, []],
    [{ approver_ids: 'Any' }, [2]],
    [{ approver_ids: 'None' }, [4, 3, 1]],
    [{ merge_user_id: root.id }, [3]],
    [{ merge_user_id: joe.id }, []],
    [{ approved_by_usernames: [joe.username.toUpperCase()] }, [1]],
    [{ approved_by_usernames: [joe.username, jane.username] }, []],
    [{ approved_by_usernames: [joe.username, 'nobody'] }, []],
    [{ approved_by_usernames: 'None' }, [4, 2, 3]],
    [{ approved_by_usernames: 'Any' }, [1]],
    [{ merge_user_username: root.username }, [3]],
    [{ merge_user_username: joe.username }, []],
    [{ merge_user_username: 'nobody' }, []],
    [{ my_reaction_emoji: 'owl' }, [2]],
    [{ my_reaction_emoji: 'None' }, [4, 3, 1]],
    [{ iids: [1, 3, 99] }, [3, 1]],
    [{ source_branch: 'two' }, [2]],
    [{ source_branch: 'tw' }, []],
    [{ target_branch: 'stable' }, [3]],
    [{ source_project_id: project.id }, [4, 2, 3, 1]],
    [{ source_project_id: project.id + 1 }, []],
    [{ wip: 'yes' }, [2]],
    [{ wip: 'no' }, [4, 3, 1]],
    [{ search: 'engine' }, [4, 1]],
    [{ search: 'engine', in: 'title' }, [1]],
    [{ search: 'engine', in: 'description' }, [4]],
    [{ 'not[labels]': 'bug' }, [4, 3]],
    [{ 'not[milestone]': 'v1' }, [4, 2, 3]],
    [{ 'not[author_id]': jane.id }, [4, 3]],
    [{ 'not[author_username]': jane.username }, [4, 3]],
    [{ 'not[assignee_id]': joe.id }, [4, 2, 3]],
    [{ 'not[reviewer_id]': joe.id }, [4, 3, 1]],
    [{ 'not[reviewer_username]': joe.username }, [4, 3, 1]],
    [{ 'not[my_reaction_emoji]': 'owl' }, [4, 3, 1]],
    [{ 'not[iids]': [1] }, [4, 2, 3]],
    [{ with_merge_status_recheck: true, wip: 'yes', labels: 'bug' }, [2]],
  ]
  for (const [filter, iids] of table) {
    for (const path of [url, '/merge_requests']) {
      const { status, body, headers } = await joe.get(path, { scope: 'all', ...filter })
      expect([status, iidsOf(body), headers.get('x-total')], `${path} ${JSON.stringify(filter)}`).toEqual([
        200,
        iids,
        String(iids.length),
      ])
    }
  }

  // Rules of the project apply to all of its merge requests.
  await root.post(`/projects/${project.id}/approval_rules`, { name: 'All', approvals_required: 0, user_ids: [jane.id] })
  for (const [input, iids] of [
    [[jane.id], [4, 2, 3, 1]],
    [[jane.id, joe.id], [2]],
    ['None', []],
  ] as const) {
    const { body, headers } = await joe.get(url, { approver_ids: input })
    expect([iidsOf(body), headers.get('x-total')]).toEqual([iids, String(iids.length)])
  }

  // A merge request that is being merged counts as open.
  await db.updateTable('merge_requests').set({ state: 'locked' }).where('iid', '=', 2).execute()
  for (const input of [{}, { order_by: 'title' }, { labels: 'bug' }]) {
    const { body } = await joe.get(url, { state: 'opened', ...input })
    expect(iidsOf(body).toSorted((a, b) => a - b)).toEqual([1, 2])
    expect(body.map(({ state }: { state: string }) => state)).toEqual(['opened', 'opened'])
  }

  const refused: [Record<string, unknown>, unknown][] = [
    [{ state: 'locked' }, { error: 'state does not have a valid value' }],
    [{ order_by: 'weight' }, { error: 'order_by does not have a valid value' }],
    [{ sort: 'up' }, { error: 'sort does not have a valid value' }],
    [{ view: 'full' }, { error: 'view does not have a valid value' }],
    [{ scope: 'mine' }, { error: 'scope does not have a valid value' }],
    [{ wip: 'maybe' }, { error: 'wip does not have a valid value' }],
    [{ approved: 'maybe' }, { error: 'approved does not have a valid value' }],
    [{ approver_ids: 'x' }, { error: 'approver_ids is invalid' }],
    [{ deployed_after: 'soon' }, { error: 'deployed_after is invalid' }],
    [{ created_after: 'soon' }, { error: 'created_after is invalid' }],
    [{ author_id: 1, author_username: 'x' }, { error: 'author_id, author_username are mutually exclusive' }],
    [{ reviewer_id: 1, reviewer_username: 'x' }, { error: 'reviewer_id, reviewer_username are mutually exclusive' }],
  ]
  for (const [filter, body] of refused) expect(await joe.get(url, filter)).toMatchObject({ status: 400, body })
})

test('the reduced record, and labels with details', async () => {
  const { administrator: root } = forge
  const project = await forge.project()
  await forge.mergeRequest(project, { title: 'Short' })
  const url = `/projects/${project.id}/merge_requests`
  await root.put(`${url}/1`, { labels: 'bug' })
  const [full] = (await root.get(url)).body
  const [simple] = (await root.get(url, { view: 'simple' })).body
  const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } = full
  expect(simple).toEqual({ id, iid, project_id, title, description, state, created_at, updated_at, web_url })
  expect(full).toMatchObject({ labels: ['bug'], reference: '!1' })
  expect(full).not.toHaveProperty('subscribed')
  const [detailed] = (await root.get(url, { with_labels_details: true })).body
  expect(detailed.labels).toMatchObject([{ name: 'bug', text_color: '#FFFFFF' }])
  const [mixed] = (await root.get('/merge_requests', { author_id: full.author.id })).body
  expect(mixed.references).toEqual({ short: '!1', relative: full.references.full, full: full.references.full })
})

test('global and group lists show exactly what may be read', async () => {
  const { administrator: root, app } = forge
  const owner = await forge.user()
  const [stranger, guest, reporter] = [await forge.user(), await forge.user(), await forge.user()]
  const external = await forge.user({ external: true })
  const everyone: Record<string, Person> = { root, owner, stranger, guest, reporter, external }
  const { body: group } = await owner.post('/groups', { name: 'Seen', path: 'seen', visibility: 'public' })
  const kinds = [
    ['private', {}],
    ['internal', {}],
    ['public', {}],
    ['public', { merge_requests_access_level: 'private' }],
    ['public', { merge_requests_access_level: 'disabled' }],
    ['public', { repository_access_level: 'private', merge_requests_access_level: 'private' }],
  ] as const
  for (const [visibility, features] of kinds) {
    const project = await forge.project({ namespace_id: group.id, visibility }, owner)
    await owner.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
    await owner.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
    await forge.mergeRequest(project, { title: 'One' }, owner)
    await forge.mergeRequest(project, { title: 'Two' }, owner)
    const rows = await app.db
      .selectFrom('merge_requests')
      .select('id')
      .where('project_id', '=', project.id)
      .orderBy('id')
      .execute()
    // Each of them is linked to the second merge request.
    const merge_request_id = rows[1]!.id
    const people = [stranger, guest, external]
    await app.db
      .insertInto('merge_request_assignees')
      .values(people.slice(0, 2).map(({ id }) => ({ merge_request_id, user_id: id })))
      .execute()
    await app.db
      .insertInto('merge_request_reviewers')
      .values({ merge_request_id, user_id: external.id, created_at: '2020-01-01T00:00:00.000Z' })
      .execute()
    await owner.put(`/projects/${project.id}`, features)
  }
  const all = await app.db
    .selectFrom('merge_requests as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .select(['m.id', 'm.iid', 'm.project_id'])
    .where('p.namespace_id', '=', group.id)
    .orderBy('m.id')
    .execute()
  for (const [name, who] of Object.entries(everyone)) {
    const readable: number[] = []
    for (const { id, iid, project_id } of all) {
      const { status } = await who.get(`/projects/${project_id}/merge_requests/${iid}`)
      if (status === 200) readable.push(id)
    }
    for (const filter of [{}, { state: 'opened' }, { search: 'O' }, { order_by: 'title' }, { labels: 'None' }]) {
      const listed = await who.get(`/groups/${group.id}/merge_requests`, { ...filter, per_page: 100 })
      expect(
        listed.body.map(({ id }: { id: number }) => id).toSorted((a: number, b: number) => a - b),
        name,
      ).toEqual(readable)
      expect(listed.headers.get('x-total')).toBe(String(readable.length))
    }
    const { body } = await who.get('/merge_requests', { scope: 'all', per_page: 100 })
    const here = body.map(({ id }: { id: number }) => id).filter((id: number) => all.some((one) => one.id === id))
    expect(
      here.toSorted((a: number, b: number) => a - b),
      name,
    ).toEqual(readable)
    for (const project_id of new Set(all.map((one) => one.project_id))) {
      const whole = all.filter((one) => one.project_id === project_id).every(({ id }) => readable.includes(id))
      const { status } = await who.get(`/projects/${project_id}/merge_requests`)
      const { status: seen } = await who.get(`/projects/${project_id}`)
      expect(status, name).toBe(seen !== 200 ? 404 : whole ? 200 : 403)
    }
  }
})

test('without a scope it is what one wrote', async () => {
  const jane = await forge.user()
  const project = await forge.project({ visibility: 'public' }, jane)
  await forge.mergeRequest(project, { title: 'Mine' }, jane)
  const titles = async (who: Person, input = {}) =>
    (await who.get('/merge_requests', input)).body.map(({ title }: { title: string }) => title)
  expect(await titles(jane)).toEqual(['Mine'])
  expect(await titles(await forge.user())).toEqual([])
  await jane.post(`/projects/${project.id}/archive`)
  expect(await titles(jane)).toEqual(['Mine'])
  expect(await titles(jane, { non_archived: true })).toEqual([])
})

test('a page of a hundred sends as many queries as a page of one', async () => {
  const { administrator: root, app } = forge
  const project = await forge.project()
  await forge.mergeRequest(project, { title: 'One' })
  const url = `/projects/${project.id}/merge_requests`
  await root.put(`${url}/1`, { labels: 'bug', assignee_ids: [root.id], reviewer_ids: [root.id] })
  const cost = (path: string, input: object) =>
    forge.queries(() => root.get(path, { scope: 'all', per_page: 100, source_project_id: project.id, ...input }))
  const costs = async () => {
    const found: number[] = []
    for (const path of [url, '/merge_requests'])
      for (const input of [{}, { view: 'simple' }, { with_labels_details: true }]) found.push(await cost(path, input))
    return found
  }
  await forge.settle()
  await costs()
  const one = await costs()
  const row = await app.db
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow()
  const { id: _, version: __, ...rest } = row
  const rows = Array.from({ length: 99 }, (_, n) => ({ ...rest, iid: n + 2, source_branch: `b${n}` }))
  await app.db.insertInto('merge_requests').values(rows).execute()
  for (const table of ['merge_request_labels', 'merge_request_assignees', 'merge_request_reviewers'] as const) {
    const [link] = await app.db.selectFrom(table).selectAll().where('merge_request_id', '=', row.id).execute()
    const ids = await app.db
      .selectFrom('merge_requests')
      .select('id')
      .where('project_id', '=', project.id)
      .where('iid', '>', 1)
      .execute()
    await app.db
      .insertInto(table)
      .values(ids.map(({ id }) => ({ ...link!, merge_request_id: id })) as never)
      .execute()
  }
  await forge.settle()
  await costs()
  expect((await root.get(url, { per_page: 100 })).body).toHaveLength(100)
  expect(await costs()).toEqual(one)
})
