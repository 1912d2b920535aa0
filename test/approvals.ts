/** Merge requests that wait for approval. */
import { expect } from 'vitest'
import type { Person, TestForge } from '../src/forge.ts'

/** A project of Jane's that requires `required` approvals, with two Developers and a merge request of hers. */
export async function proposed(forge: TestForge, required = 1) {
  const jane = await forge.user()
  const project = await forge.project({ approvals_before_merge: required }, jane)
  await forge.seed(project, { 'a.txt': 'one\n' })
  const member = async (access_level = 30) => {
    const someone = await forge.user()
    const added = await jane.post(`/projects/${project.id}/members`, { user_id: someone.id, access_level })
    expect(added.status).toBe(201)
    return someone
  }
  const [john, mary] = [await member(), await member()]
  const propose = async (branch: string, files: Record<string, string>, by: Person = jane, more = {}) => {
    await forge.seed(project, files, { branch, as: by })
    const made = await by.post(`/projects/${project.id}/merge_requests`, {
      source_branch: branch,
      target_branch: 'master',
      title: `Add ${branch}`,
      ...more,
    })
    expect(made.status).toBe(201)
    return { ...made.body, url: `/projects/${project.id}/merge_requests/${made.body.iid}` }
  }
  const one = await propose('feature', { 'b.txt': 'two\n' })
  return { jane, john, mary, project, member, propose, one, url: one.url as string, root: `/projects/${project.id}` }
}
