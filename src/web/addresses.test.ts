import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'

/** All texts of a record, however deep. */
const textsOf = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : []

test('every address below a project that a record tells stands behind a dash, and there is its page', async () => {
  await using forge = await startForge()
  const root = forge.administrator
  const { id, web_url } = await forge.project({ visibility: 'public' })
  const at = `/projects/${id}`
  const { id: sha } = await forge.seed(
    { id },
    { 'README.md': 'Read', LICENSE: 'MIT', '.gitlab-ci.yml': 'a: {script: x}' },
  )
  await forge.seed({ id }, { b: 'b' }, { branch: 'topic' })
  const { body: milestone } = await root.post(`${at}/milestones`, { title: 'v1' })
  await root.post(`${at}/issues`, { title: 'One', milestone_id: milestone.id, assignee_ids: [root.id] })
  await root.post(`${at}/merge_requests`, { title: 'Two', source_branch: 'topic', target_branch: 'master' })
  await root.post(`${at}/snippets`, { title: 'Three', file_name: 'a', content: 'a', visibility: 'public' })
  await root.post(`${at}/wikis`, { title: 'home', content: 'See [beside](other) #1 !1' })
  await root.post(`${at}/releases`, { tag_name: 'v1.0', ref: 'master', milestones: ['v1'], description: `${sha}` })
  await root.post(`${at}/issues/1/todo`)
  await forge.settle()

  const lists = `${at}?license=true ${at}/repository/branches ${at}/repository/commits ${at}/repository/commits/${sha}
    ${at}/repository/compare?from=master&to=topic ${at}/repository/tags ${at}/releases?include_html_description=true
    ${at}/issues ${at}/issues/1 ${at}/merge_requests ${at}/merge_requests/1 ${at}/milestones ${at}/snippets
    ${at}/pipelines ${at}/jobs ${at}/repository/commits/${sha}/statuses ${at}/wikis/home?render_html=true /todos
    ${at}/search?scope=issues&search=One ${at}/search?scope=commits&search=a ${at}/merge_requests/1/commits`
  const records = await Promise.all(lists.split(/\s+/).map(async (list) => (await root.get(list)).body))
  const { body: rendered } = await root.post('/markdown', {
    text: `#1 !1 ${sha} %v1 ${sha}...${sha}`,
    gfm: true,
    project: web_url.slice(forge.url.length + 1),
  })
  const written = textsOf([records, rendered]).flatMap((text) => text.match(/https?:\/\/[^\s"<>)]+/g) ?? [])
  const below = [...new Set(written.filter((address) => address.startsWith(`${web_url}/`)))]
  const pages = new Set(below.map((address) => address.slice(web_url.length).split('/', 3).slice(1).join('/')))
  expect([...pages].toSorted()).toEqual(
    'blob commit compare issues jobs merge_requests milestones pipelines releases snippets tree wikis'
      .split(' ')
      .map((page) => `-/${page}`),
  )
  // Records contain the URL of an edit page for a release; here a release is edited on its own page.
  for (const address of below.filter((one) => !one.endsWith('/edit') && !one.endsWith('/wikis/other'))) {
    for (const one of [address, address.replace('/-/', '/')])
      expect([one, (await fetch(one, { headers: { Accept: 'text/html' } })).status]).toEqual([one, 200])
  }
})
