/** A project with users, branches and merge requests, for tests of related records. */
import { expect } from 'vitest'
import type { Person, TestForge } from '../src/forge.ts'

export async function openProposals(forge: TestForge, owner: Person, input: Record<string, unknown> = {}) {
  const project = await forge.project(input, owner)
  await forge.seed(project, { 'a.txt': 'one\n' }, { as: owner })
  const at = `/projects/${project.id}`
  const url = `${at}/merge_requests`
  const member = async (access_level: number) => {
    const person = await forge.user()
    expect((await owner.post(`${at}/members`, { user_id: person.id, access_level })).status).toBe(201)
    return person
  }
  let branches = 0
  /** From a new branch. */
  const propose = async (title: string, more: Record<string, unknown> = {}, by: Person = owner) => {
    const source_branch = `branch-${++branches}`
    await forge.seed(project, { [`${source_branch}.txt`]: `${title}\n` }, { branch: source_branch, as: owner })
    const made = await by.post(url, { source_branch, target_branch: 'master', title, ...more })
    expect(made.status).toBe(201)
    return { ...made.body, url: `${url}/${made.body.iid}` }
  }
  const push = (branch: string, as: Person = owner) =>
    forge.seed(project, { [`${branch}-more.txt`]: `${Math.random()}\n` }, { branch, as })
  return { project, at, url, member, propose, push }
}
