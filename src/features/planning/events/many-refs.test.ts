import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge } from '../../../forge.ts'

test('many branches in one push cost few queries and processes, also afterwards', { timeout: 180_000 }, async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const project = (await jane.post('/projects', { name: 'engine', initialize_with_readme: true })).body
  await forge.settle()
  await using work = await workspace()
  const web = addressFor(forge, 'jane/engine', jane)
  await work.git('clone', '-q', '--bare', web, 'src')
  const count = 300
  const stream = Array.from(
    { length: count },
    (_, n) =>
      `commit refs/heads/b${n}\ncommitter A <a@example.com> ${1_700_000_000 + n} +0000\ndata 6\nUpdate\nfrom refs/heads/${project.default_branch}^0\n\n`,
  )
  await writeFile(join(work.folder, 'stream'), stream.join(''))
  await work.git('-C', 'src', 'config', 'alias.take', '!git fast-import --quiet < ../stream')
  expect((await work.git('-C', 'src', 'take')).code).toBe(0)

  const before = forge.app.store.queries
  const processes = await processesOf(async () => {
    expect((await work.git('-C', 'src', 'push', '-q', web, 'refs/heads/b*:refs/heads/b*')).code).toBe(0)
    await forge.settle()
  })
  expect(processes.length).toBeLessThan(count / 2)
  expect(forge.app.store.queries - before).toBeLessThan(count)

  const { body } = await jane.get(`/projects/${project.id}/events`, { action: 'pushed', per_page: 100, page: 3 })
  expect(body).toHaveLength(100)
  expect(body[0].push_data).toMatchObject({ action: 'created', ref_type: 'branch' })
  const counts = new Set(body.map(({ push_data }: { push_data: { commit_count: number } }) => push_data.commit_count))
  expect(counts).toEqual(new Set([0, 1]))
})
