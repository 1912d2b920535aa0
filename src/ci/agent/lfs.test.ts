import { expect, test } from 'vitest'
import { jobOf, jobWorkspace } from '../../../test/ci-jobs.ts'
import { LfsClient, authorizationOf, objectOf } from '../../../test/lfs.ts'
import { startForge } from '../../forge.ts'

test('large files of a private project come with the sources, by the same token', async () => {
  await using forge = await startForge()
  await using place = await jobWorkspace()
  const jane = await forge.user({ username: 'jane' })
  const project = await forge.project({ path: 'large', visibility: 'private' }, jane)
  const object = objectOf('the large content\n')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.size}\n`
  const client = new LfsClient(forge, 'jane/large', authorizationOf(jane))
  expect((await client.put(object)).status).toBe(200)
  const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n'
  const { id: sha } = await forge.seed(project, { '.gitattributes': attributes, 'a.bin': pointer }, { as: jane })
  const repo_url = project.http_url_to_repo.replace('://', `://gitlab-ci-token:${jane.token}@`)
  const { result, log, text } = await place.run(jobOf(['cat a.bin'], { git_info: { repo_url, ref: 'master', sha } }))
  expect(text).toContain('$ cat a.bin\nthe large content\n')
  expect(result).toEqual({ state: 'success' })
  expect(log).not.toContain(jane.token)
})
