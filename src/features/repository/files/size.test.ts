import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge } from '../../../forge.ts'

const MB = 1024 * 1024

test('a file is as large as a request may be; beyond, nothing is written', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const dir = await fillProject(forge, id)
  const { administrator: owner } = forge
  const url = `/projects/${id}/repository`
  const content = Buffer.from(Uint8Array.from({ length: 7.4 * MB }, (_, n) => (n * n) >>> 7))
  const file = { branch: 'master', commit_message: 'Add', encoding: 'base64', content: content.toString('base64') }
  const state = async () => [await runGit([`--git-dir=${dir}`, 'rev-parse', 'master']), await forge.events()]

  expect((await owner.post(`${url}/files/large`, file)).status).toBe(201)
  const blob = (await owner.get(`${url}/files/large`, { ref: 'master' })).body
  expect([blob.size, blob.content_sha256]).toEqual([content.length, hash('sha256', content)])
  expect((await owner.put(`${url}/files/large`, { ...file, content: 'eHh4' })).status).toBe(200)
  const actions = [{ action: 'create', file_path: 'more', encoding: 'base64', content: file.content }]
  expect((await owner.post(`${url}/commits`, { branch: 'master', commit_message: 'Add', actions })).status).toBe(201)

  const before = await state()
  const larger = Buffer.alloc(7.6 * MB).toString('base64')
  const refusal = { status: 413, body: { message: '413 Request Entity Too Large' } }
  expect(await owner.post(`${url}/files/larger`, { ...file, content: larger })).toMatchObject(refusal)
  expect(await owner.put(`${url}/files/large`, { ...file, content: larger })).toMatchObject(refusal)
  const input = { branch: 'master', commit_message: 'Add', actions: [{ ...actions[0], content: larger }] }
  expect(await owner.post(`${url}/commits`, input)).toMatchObject(refusal)
  expect(await state()).toEqual(before)
})
