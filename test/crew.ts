/** A project with users of each role, for planning tests. */
import type { Person, TestForge } from '../src/forge.ts'

const LEVELS = { guest: 10, reporter: 20, developer: 30, master: 40 }

export interface Crew {
  readonly id: number
  readonly path: string
  readonly owner: Person
  readonly people: Record<keyof typeof LEVELS, Person>
  /** Creates an issue and resolves to its URL; by the owner by default. */
  issue(input?: Record<string, unknown>, by?: Person): Promise<string>
}

let made = 0

export async function crewOf(forge: TestForge, request: Record<string, unknown> = {}): Promise<Crew> {
  const owner = await forge.user()
  const { body } = await owner.post('/projects', { name: `crew${++made}`, ...request })
  const people = {} as Crew['people']
  for (const [role, access_level] of Object.entries(LEVELS)) {
    people[role as keyof typeof LEVELS] = await forge.user()
    await owner.post(`/projects/${body.id}/members`, { user_id: people[role as keyof typeof LEVELS].id, access_level })
  }
  return {
    id: body.id,
    path: body.path_with_namespace,
    owner,
    people,
    async issue(input = {}, by = owner) {
      const created = await by.post(`/projects/${body.id}/issues`, { title: 'An issue', ...input })
      return `/projects/${body.id}/issues/${created.body.iid}`
    },
  }
}
