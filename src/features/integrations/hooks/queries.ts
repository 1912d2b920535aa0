import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { findProject, meetProject, project } from '../../projects/projects/queries.ts'
import { hookPolicy } from './policy.ts'

const hooksOf = (db: Db, project: number) =>
  db.selectFrom('project_hooks').selectAll().where('project_id', '=', project)

export const listHooks = (db: Db, project: number, page: PageWish): Promise<Page<Row<'project_hooks'>>> =>
  pageOfQuery(hooksOf(db, project).orderBy('id', 'desc'), page)

export async function findHook(db: Db, project: number, hook: number): Promise<Row<'project_hooks'> | null> {
  return (await hooksOf(db, project).where('id', '=', hook).executeTakeFirst()) ?? null
}

/**
 * `/projects/:id/hooks/:hook_id`: the project as it is found everywhere, and the hook if there is one. What stands for
 * its id is judged by the endpoint, after the right to know.
 */
export const hook = resource({
  name: project.name!,
  params: z.object({ id: z.string(), hook_id: z.unknown() }),
  policy: hookPolicy,
  async find(app, params, viewer) {
    const found = await findProject(app.db, params.id)
    if (!found) return null
    const wanted = id.safeParse(params.hook_id)
    const hook = wanted.success ? await findHook(app.db, found.id, wanted.data) : null
    return { ...(await meetProject(app, found, viewer)), hook }
  },
})
