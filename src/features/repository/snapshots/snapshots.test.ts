import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { groupOf, projectIn } from '../../../../test/groups.ts'
import { startForge } from '../../../forge.ts'
import { makeTemporaryFolder } from '../../../lib/files/temporary-folder.ts'

test('a snapshot unpacks to a repository with every ref and object', async () => {
  await using forge = await startForge()
  const folder = await makeTemporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const project = await projectIn(forge, await groupOf(forge, 'tools'), 'saw')
  const dir = await fillProject(forge, project.id)
  execFileSync('git', ['-C', dir, 'update-ref', 'refs/heads/tmp_work', 'HEAD'])
  const long = `refs/heads/${'long/'.repeat(30)}name`
  execFileSync('git', ['-C', dir, 'update-ref', long, 'HEAD'])
  const answer = await fetch(`${forge.url}/api/v4/projects/${project.id}/snapshot`, {
    headers: { 'PRIVATE-TOKEN': forge.administrator.token },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/x-tar')
  expect(answer.headers.get('content-disposition')).toContain('saw.git.tar')
  const bytes = Buffer.from(await answer.arrayBuffer())

  execFileSync('tar', ['-xf', '-', '-C', folder], { input: bytes })
  const copy = join(folder, 'saw.git')
  const refs = (at: string) => execFileSync('git', ['-C', at, 'for-each-ref'], { encoding: 'utf8' })
  expect(refs(copy)).toContain(long)
  expect(refs(copy)).toBe(refs(dir))
  execFileSync('git', ['-C', copy, 'fsck', '--full', '--connectivity-only'], { stdio: 'pipe' })
  expect(execFileSync('tar', ['-tf', '-'], { input: bytes, encoding: 'utf8' })).not.toMatch(/config|hooks|alternates/)
})

test('a wiki nobody wrote has none', async () => {
  await using forge = await startForge()
  const project = await projectIn(forge, await groupOf(forge, 'tools'), 'saw')
  const answer = await forge.administrator.get(`/projects/${project.id}/snapshot`, { wiki: true })
  expect(answer).toMatchObject({ status: 404, body: { message: '404 Repository Not Found' } })
})
