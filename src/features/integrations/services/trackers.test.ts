import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('texts of a project link to issues of its tracker elsewhere', async () => {
  await using forge = await startForge()
  const { owner, url, path, group } = await openSource(forge, 'projects')
  const text = 'See SAW-7, `SAW-8`, [SAW-9](/x) and #1'
  const rendered = async (project: string | undefined = path.slice(1)) =>
    (await owner.post('/markdown', { text, gfm: true, project })).body.html as string
  expect(await rendered()).not.toContain('external_issue')

  const issues_url = 'https://bugs.example.com/show?id=:id'
  const urls = { issues_url, project_url: 'https://bugs.example.com/', new_issue_url: 'https://bugs.example.com/new' }
  await owner.put(`${group.url}/integrations/bugzilla`, urls)
  const link = (key: string, shown = key) =>
    `<a href="https://bugs.example.com/show?id=${key}" rel="nofollow noreferrer noopener" class="reference external_issue">${shown}</a>`
  const html = await rendered()
  expect(html).toContain(`See ${link('SAW-7')}, <code>SAW-8</code>, `)
  expect(html).toMatch(/>SAW-9<\/a> and #1<\/p>/)
  expect(await rendered('')).not.toContain('external_issue')
  // With issues disabled, a number can only be an issue of the external tracker.
  await owner.put(url, { issues_enabled: false })
  expect(await rendered()).toContain(`and ${link('1', '#1')}`)
  await owner.put(url, { issues_enabled: true })

  await owner.put(`${url}/integrations/jira`, { url: 'https://jira.example.com/' })
  expect(await rendered()).toContain('<a href="https://jira.example.com/browse/SAW-7"')
  const page = await owner.post(`${url}/wikis`, { title: 'Home', content: text })
  const { body: wiki } = await owner.get(`${url}/wikis/${page.body.slug}`, { render_html: true })
  expect(wiki.content).toContain('https://jira.example.com/browse/SAW-7')
  await owner.delete(`${url}/integrations/jira`)
  expect(await rendered()).toContain(link('SAW-7'))
})

test('the page of the wiki leads to the one elsewhere, for who may see the project', async () => {
  await using forge = await startForge()
  const { owner, url, path } = await openSource(forge, 'projects')
  // Asks for JSON: a client that accepts any type gets the wiki page of this server.
  const ask = async (shown: Record<string, string>, rest = '') => {
    const headers = { Accept: 'application/json', ...shown }
    const answer = await fetch(`${forge.url}${path}/-/wikis${rest}`, { headers, redirect: 'manual' })
    return [answer.status, answer.headers.get('location')]
  }
  const credential = { 'PRIVATE-TOKEN': owner.token }
  expect(await ask(credential)).toEqual([404, null])
  await owner.put(`${url}/services/external-wiki`, {
    external_wiki_url: 'https://wiki.example.com/a b'.replace(' ', '%20'),
  })
  expect(await ask(credential)).toEqual([302, 'https://wiki.example.com/a%20b'])
  expect(await ask(credential, '/home')).toEqual([302, 'https://wiki.example.com/a%20b'])
  expect(await ask(credential, '/other')).toEqual([404, null])
  expect(await ask({})).toEqual([404, null])
  await owner.delete(`${url}/services/external-wiki`)
  expect(await ask(credential)).toEqual([404, null])
})
