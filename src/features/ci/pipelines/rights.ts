/** Who may run what on a branch or a tag. */
import type { App, User } from '../../../context.ts'
import { Developer } from '../../../lib/levels.ts'
import { isProtected, mayCreateTag, mayMerge, type Rules } from '../../repository/protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../../repository/protected-branches/queries.ts'

export interface RunPlace {
  readonly project: { readonly id: number }
  readonly viewer: User | null
  readonly level: number
}

export interface RunRef {
  readonly ref: string
  readonly tag: boolean
}

const rulesFor = (app: App, project: number, { tag }: Pick<RunRef, 'tag'>): Promise<Rules> =>
  findProtection(app.db, project, tag ? 'tag' : 'branch')

export async function isProtectedRef(app: App, project: number, { ref, tag }: RunRef): Promise<boolean> {
  return isProtected(await rulesFor(app, project, { tag }), ref)
}

/** Whoever may push or merge to the branch, or make the tag. */
export async function mayRunOn(app: App, { project, viewer, level }: RunPlace, { ref, tag }: RunRef): Promise<boolean> {
  if (level < Developer) return false
  const rules = await rulesFor(app, project.id, { tag })
  const who = { user: viewer, level, groups: await groupsAmong(app.db, viewer, rules) }
  return (tag ? mayCreateTag : mayMerge)(rules, ref, who)
}
