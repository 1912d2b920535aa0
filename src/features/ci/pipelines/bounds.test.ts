/** What the author of a file could make too much of. */
import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('variables of the whole file count for each job that keeps them', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const jobs = (count: number) => Array.from({ length: count }, (_, n) => `j${n}: { script: x }`).join('\n')
  const file = (count: number) => ({ '.gitlab-ci.yml': `variables: { A: ${'x'.repeat(900_000)} }\n${jobs(count)}` })
  const at = `/projects/${project.id}`
  const newest = async () => {
    const [{ id }] = (await owner.get(`${at}/pipelines`)).body
    return [(await owner.get(`${at}/pipelines/${id}`)).body, (await owner.get(`${at}/pipelines/${id}/jobs`)).body]
  }
  await forge.seed(project, file(2), { as: owner })
  expect(await newest()).toMatchObject([{ status: 'pending' }, [{ name: 'j1' }, { name: 'j0' }]])
  await forge.seed(project, file(40), { as: owner })
  expect(await newest()).toMatchObject([{ status: 'failed', yaml_errors: 'The parsed YAML is too big' }, []])
})
