/** Events of a project reach its services, in each receiver's format. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('pushes, tags, issues, notes, merge requests and wiki pages are told, and what is off is not', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  const { owner, url, group } = await openSource(forge, 'projects')
  const names: string[] = []
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const { text: sentence } = JSON.parse(new URLSearchParams(body).get('payload')!) as { text: string }
      names.push(`${request.url} ${sentence.replace(/<[^|>]*\|([^>]*)>/g, '$1')}`)
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const setting = { webhook: `${base}/own`, branches_to_be_notified: 'all', note_events: false }
  await owner.put(`${url}/integrations/slack`, setting)
  await owner.put(`${group.url}/integrations/mattermost`, { webhook: `${base}/group`, push_events: false })
  const namesAfter = async (work: () => Promise<unknown>) => {
    await work()
    await forge.settle()
    return names.splice(0).toSorted()
  }
  const { name } = (await owner.get('/user')).body
  const { username } = owner
  const who = `${name} (${username})`
  const title = (await owner.get(url)).body.name_with_namespace as string
  const inMarkdown = (sentence: RegExp) => expect.stringMatching(sentence) as unknown

  const commit = (branch: string, start?: string) =>
    owner.post(`${url}/repository/commits`, {
      branch,
      ...(start && { start_branch: start }),
      commit_message: 'Sharpen',
      actions: [{ action: 'create', file_path: `${branch}.txt`, content: 'a' }],
    })
  expect(await namesAfter(() => commit('master'))).toEqual([`/own ${who} pushed new branch master to ${title}`])
  expect(await namesAfter(() => commit('blade', 'master'))).toEqual([`/own ${who} pushed new branch blade to ${title}`])
  expect(await namesAfter(() => owner.post(`${url}/repository/tags`, { tag_name: 'v1', ref: 'master' }))).toEqual([
    inMarkdown(/^\/group .* pushed new tag \[v1\]/),
    `/own ${who} pushed new tag v1 to ${title}`,
  ])
  expect(await namesAfter(() => owner.post(`${url}/issues`, { title: 'Blunt' }))).toEqual([
    inMarkdown(/^\/group .* Issue opened by/),
    `/own [${title}] Issue opened by ${who}`,
  ])
  await owner.put(`${group.url}/integrations/mattermost`, { confidential_issues_events: false })
  expect(await namesAfter(() => owner.post(`${url}/issues`, { title: 'Secret', confidential: true }))).toEqual([
    `/own [${title}] Issue opened by ${who}`,
  ])
  expect(await namesAfter(() => owner.put(`${url}/issues/1`, { description: 'More' }))).toEqual([])
  expect(await namesAfter(() => owner.post(`${url}/issues/1/notes`, { body: 'Indeed' }))).toEqual([
    inMarkdown(/^\/group .* commented on \[issue \\#1\]/),
  ])
  const request = { source_branch: 'blade', target_branch: 'master', title: 'Sharper' }
  expect(await namesAfter(() => owner.post(`${url}/merge_requests`, request))).toEqual([
    inMarkdown(/^\/group .* opened \[merge request !1\]/),
    `/own ${who} opened merge request !1 in ${title}: *Sharper*`,
  ])
  expect(await namesAfter(() => owner.put(`${url}/merge_requests/1/merge`))).toEqual([
    inMarkdown(/^\/group .* merged \[merge request !1\]/),
    `/own ${who} merged merge request !1 in ${title}: *Sharper*`,
    `/own ${who} pushed to branch master of ${title} (Compare changes)`,
  ])
  expect(await namesAfter(() => owner.post(`${url}/wikis`, { title: 'Home', content: 'Hello' }))).toEqual([
    inMarkdown(/^\/group .* created \[wiki page\]/),
    `/own ${who} created wiki page in ${title}: *Home*`,
  ])
  await owner.delete(`${url}/integrations/slack`)
  await owner.delete(`${group.url}/integrations/mattermost`)
  expect(await namesAfter(() => owner.put(`${url}/issues/1`, { state_event: 'close' }))).toEqual([])
  receiver.close()
})
