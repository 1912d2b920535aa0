import { expect, test } from 'vitest'
import { repositoriesOf } from '../../../../test/projects.ts'
import { startForge, type Client } from '../../../forge.ts'

const commitsOf = async (caller: Client, id: number) =>
  (await caller.get(`/projects/${id}/repository/commits`)).body.map((commit: Record<string, unknown>) => [
    commit.title,
    commit.author_name,
    commit.committer_name,
    commit.parent_ids,
  ])

test('a project starts with a readme by its owner', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ name: 'Ann' })
  const request = {
    name: 'The Engine',
    description: 'It *runs*.',
    initialize_with_readme: true,
    default_branch: 'trunk',
  }
  const { status, body } = await ann.post('/projects', request)
  expect([status, body.default_branch, body.empty_repo]).toEqual([201, 'trunk', false])
  // The first answer equals the next read.
  expect(body.readme_url).toBe(`${body.web_url}/-/blob/trunk/README.md`)
  const raw = await fetch(`${forge.url}/api/v4/projects/${body.id}/repository/files/README.md/raw`, ann)
  expect(await raw.text()).toBe('# The Engine\n\nIt *runs*.')
  expect(await commitsOf(ann, body.id)).toEqual([['Initial commit', 'Ann', 'Ann', []]])

  // As after any first push: events, protection, statistics.
  expect((await forge.events()).slice(-2)).toEqual(['project.created', 'repository.changed'])
  expect((await ann.get(`/projects/${body.id}/protected_branches`)).body).toMatchObject([{ name: 'trunk' }])
  forge.clock.advance(10_000)
  await forge.settle()
  const shown = (await ann.get(`/projects/${body.id}`, { statistics: true })).body
  expect([shown.statistics.commit_count, shown.readme_url]).toEqual([1, `${body.web_url}/-/blob/trunk/README.md`])

  const given = await forge.administrator.post(`/projects/user/${ann.id}`, { name: 'given', initialize_with_readme: 1 })
  expect(given.body).toMatchObject({ default_branch: 'master', empty_repo: false })
  expect(given.body.readme_url).toBe(`${given.body.web_url}/-/blob/master/README.md`)
  expect(await commitsOf(ann, given.body.id)).toEqual([['Initial commit', 'Ann', 'Administrator', []]])
  const { body: group } = await ann.post('/groups', { name: 'shop', path: 'shop' })
  const inside = await ann.post('/projects', { name: 'x', namespace_id: group.id, initialize_with_readme: 'true' })
  expect([inside.status, inside.body.empty_repo]).toEqual([201, false])
  // The owner of a new project needs no permission in its namespace.
  const { body: other } = await forge.administrator.post('/groups', { name: 'other', path: 'other' })
  const elsewhere = { name: 'y', namespace_id: other.id, initialize_with_readme: true }
  expect((await forge.administrator.post(`/projects/user/${ann.id}`, elsewhere)).body.empty_repo).toBe(false)
})

test('nobody else gets one', async () => {
  await using forge = await startForge()
  const ann = await forge.user()
  for (const [n, input] of [{}, { initialize_with_readme: false }, { initialize_with_readme: '' }].entries()) {
    const { status, body } = await ann.post('/projects', { name: `p${n}`, ...input })
    expect([status, body.default_branch, body.empty_repo]).toEqual([201, null, true])
  }
  const { status, body } = await ann.post('/projects', { name: 'x', initialize_with_readme: 'perhaps' })
  expect([status, body.message]).toEqual([400, 'initialize_with_readme is invalid'])
})

test('a project that cannot begin so is not there', async () => {
  await using forge = await startForge()
  const ann = await forge.user()
  const request = { name: 'engine', default_branch: 'a'.repeat(40), initialize_with_readme: true }
  const { status, body } = await ann.post('/projects', request)
  expect([status, body.message]).toEqual([400, 'You cannot create a branch with a SHA-1 or SHA-256 branch name.'])
  await forge.settle()
  expect((await ann.get('/projects', { owned: true })).body).toEqual([])
  expect(await repositoriesOf(forge)).toEqual([])
  expect((await ann.post('/projects', { ...request, default_branch: 'main' })).status).toBe(201)
})
