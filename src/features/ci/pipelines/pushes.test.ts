import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import type { Forge } from '../../../forge/types.ts'

const CONFIG = `
stages: [build, test]
compile: { stage: build, script: make }
check: { stage: test, script: make check }
`

const rowsOf = (forge: Forge & { app?: unknown }, table: 'pipelines' | 'ci_jobs') =>
  (forge as unknown as Awaited<ReturnType<typeof startForge>>).app.db
    .selectFrom(table)
    .selectAll()
    .orderBy('id')
    .execute()

test('a push makes a pipeline, which is there when the push is answered', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const commit = await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  expect(await rowsOf(forge, 'pipelines')).toMatchObject([
    { iid: 1, source: 'push', status: 'pending', ref: 'master', tag: false, sha: commit.id, protected: true },
  ])
  expect(await rowsOf(forge, 'ci_jobs')).toMatchObject([
    { name: 'compile', stage: 'build', status: 'pending' },
    { name: 'check', stage: 'test', status: 'created' },
  ])
  const url = new URL(project.http_url_to_repo)
  expect(await forge.git(['ls-remote', url.href, 'refs/pipelines/*'])).toContain('refs/pipelines/1')
})
