import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('a text is rendered, and names nothing without the flavour', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const rendered = await ann.post('/markdown', { text: '**Hi** @ann :tada: <script>alert(1)</script>' })
  expect(rendered).toMatchObject({ status: 201 })
  expect(rendered.body).toEqual({
    html: '<p><strong>Hi</strong> @ann <span class="emoji" title="tada">🎉</span> alert(1)</p>\n',
  })
  expect((await ann.post('/markdown', {})).body).toMatchObject({ error: 'text is missing' })
})

test('users, groups and commits become links for viewers with access', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann', name: 'Ann "A"' })
  const eve = await forge.user({ username: 'eve' })
  const project = await forge.project({ path: 'engine', visibility: 'private' }, ann)
  const file = { branch: 'master', content: 'x', commit_message: 'First <b>' }
  expect((await ann.post(`/projects/${project.id}/repository/files/a.txt`, file)).status).toBe(201)
  const [{ id: sha }] = (await ann.get(`/projects/${project.id}/repository/commits`)).body
  const { body: group } = await ann.post('/groups', { name: 'Secret', path: 'secret', visibility: 'private' })
  const { url } = forge
  const text = `@ANN @secret @nobody ${sha.slice(0, 9)} ann/engine@${sha} ${sha.slice(0, 8)}...${sha.slice(0, 9)} 0123456789 #1`
  const commit = `<a href="${url}/ann/engine/-/commit/${sha}" title="First &lt;b&gt;" class="reference commit">`

  const shown = (await ann.post('/markdown', { text, gfm: true, project: 'ann/engine' })).body.html
  expect(shown).toBe(
    `<p><a href="${url}/ann" title="Ann &quot;A&quot;" class="reference user">@ann</a> ` +
      `<a href="${url}/groups/${group.full_path}" title="Secret" class="reference group">@secret</a> @nobody ` +
      `${commit}${sha.slice(0, 8)}</a> ${commit}${sha.slice(0, 8)}</a> ` +
      `<a href="${url}/ann/engine/-/compare/${sha}...${sha}" class="reference commit_range">${sha.slice(0, 8)}...${sha.slice(0, 8)}</a> ` +
      '0123456789 #1</p>\n',
  )

  const elsewhere = (await ann.post('/markdown', { text: `ann/engine@${sha} ${sha}`, gfm: true })).body.html
  expect(elsewhere).toBe(`<p>${commit}ann/engine@${sha.slice(0, 8)}</a> ${sha}</p>\n`)

  const hidden = (await eve.post('/markdown', { text: `@secret ann/engine@${sha}`, gfm: true })).body.html
  expect(hidden).toBe(`<p>@secret ann/engine@${sha}</p>\n`)
})

test.each([
  ['of nobody', 'no/such'],
  ['that the caller may not see', 'ann/engine'],
  ['by its id', '1'],
])('a project %s is not found', async (_, project) => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const eve = await forge.user({ username: 'eve' })
  await forge.project({ path: 'engine', visibility: 'private' }, ann)
  expect(await eve.post('/markdown', { text: 'x', project })).toMatchObject({
    status: 404,
    body: { message: '404 Project Not Found' },
  })
})

test('uploads of the project are found below it', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  await forge.project({ path: 'engine' }, ann)
  const upload = `/uploads/${'0'.repeat(32)}/a.png`
  const { body } = await ann.post('/markdown', { text: `![a](${upload})`, gfm: true, project: 'ann/engine' })
  expect(body.html).toBe(`<p><img src="${forge.url}/ann/engine${upload}" alt="a"></p>\n`)
})

test('a text of a megabyte is rendered, a longer one refused', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const words = 'a '.repeat(524_288)
  const { status, body } = await ann.post('/markdown', { text: words, gfm: true })
  expect([status, body.html.length]).toEqual([201, words.trimEnd().length + '<p></p>\n'.length])
  expect(await ann.post('/markdown', { text: `${words}!` })).toMatchObject({
    status: 400,
    body: { error: 'text is too long (maximum is 1048576 characters)' },
  })
})

test('issues, labels and milestones become links for viewers with access', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const eve = await forge.user({ username: 'eve' })
  const { id } = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  await ann.post(`/projects/${id}/issues`, { title: 'Open <b>', labels: 'two words' })
  await ann.post(`/projects/${id}/issues`, { title: 'Secret', confidential: true })
  const { body: milestone } = await ann.post(`/projects/${id}/milestones`, { title: 'v1' })
  const render = async (who: typeof ann, text: string, project = 'ann/engine') =>
    (await who.post('/markdown', { text, gfm: true, project })).body.html
  const at = `${forge.url}/ann/engine`
  const first = `<a href="${at}/-/issues/1" title="Open &lt;b&gt;" class="reference issue">#1</a>`
  const second = `<a href="${at}/-/issues/2" title="Secret" class="reference issue">#2</a>`
  expect(await render(ann, '#1 #2 #3')).toBe(`<p>${first} ${second} #3</p>\n`)
  expect(await render(eve, '#1 #2 #3')).toBe(`<p>${first} #2 #3</p>\n`)
  expect(await render(eve, '~"two words" ~none')).toBe(
    `<p><a href="${at}/-/issues?label_name[]=two%20words" class="reference label">two words</a> ~none</p>\n`,
  )
  const link = `<a href="${milestone.web_url}" class="reference milestone">%v1</a>`
  expect(await render(eve, '%v1 %1 %v2')).toBe(`<p>${link} ${link} %v2</p>\n`)
  await forge.project({ path: 'other' }, eve)
  expect(await render(eve, 'ann/engine#1 ann/engine#2', 'eve/other')).toContain('>ann/engine#1</a> ann/engine#2</p>')
})
