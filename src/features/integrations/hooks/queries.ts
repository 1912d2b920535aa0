import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { guardedProject } from '../../projects/projects/queries.ts'

const hooksOf = (db: Db, project: number) =>
  db.selectFrom('project_hooks').selectAll().where('project_id', '=', project)

export const listHooks = (db: Db, project: number, page: PageWish): Promise<Page<Row<'project_hooks'>>> =>
  pageOfQuery(hooksOf(db, project).orderBy('id', 'desc'), page)

export async function findHook(db: Db, project: number, hook: number): Promise<Row<'project_hooks'> | null> {
  return (await hooksOf(db, project).where('id', '=', hook).executeTakeFirst()) ?? null
}

/** Nobody who may not administer the project learns what hooks are made of. */
export const hook = child(guardedProject, {
  key: 'hook',
  params: { hook_id: id },
  find: (app, { project }, { hook_id }) => findHook(app.db, project.id, hook_id),
})
