import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { startForge } from '../../../forge.ts'

test('the paths of all files are told at once, cut where they are too many', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  const many = Array.from({ length: 20_001 }, (_, n) => [`d/${n}`, 'x\n'])
  await fillProject(
    forge,
    project.id,
    { files: { 'a/b.ts': '', c: '', module: { mode: '160000', content: '1'.repeat(40) } } },
    { branch: 'many', files: Object.fromEntries(many) },
  )
  const url = `/projects/${project.id}/repository/paths`
  expect((await forge.visitor.get(url)).body).toEqual({ paths: ['a/b.ts', 'c'], is_cut: false })
  const { body } = await forge.visitor.get(url, { ref: 'many' })
  expect([body.paths.length, body.is_cut]).toEqual([20_000, true])
  expect((await forge.visitor.get(url, { ref: 'none' })).status).toBe(404)
})
