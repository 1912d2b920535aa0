/** Finds the hooks that receive an event. */
import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import type { Hook } from './model.ts'

const anybody = hotQuery((db, _none: object) =>
  db
    .selectFrom(db.selectFrom('hooks').select('id').limit(1).as('one'))
    .select('id')
    .unionAll(
      db
        .selectFrom(db.selectFrom('services').select('id').where('active', '=', true).limit(1).as('other'))
        .select('id'),
    ),
)

/** Whether any hook or service exists; if none does, the caller has nothing to do. */
export const isAnybodyListening = async (db: Db): Promise<boolean> => (await anybody(db, {})).length > 0

const inScope = hotQuery((db, scope: { project_id?: number | null; group_id?: number | null }, given) =>
  db
    .selectFrom('hooks')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb('project_id', 'is', null), eb('group_id', 'is', null)]),
        ...(given('project_id')
          ? [
              eb('project_id', '=', scope.project_id!),
              eb('group_id', 'in', (eb) =>
                eb
                  .selectFrom('namespace_ancestors')
                  .innerJoin('projects', 'projects.namespace_id', 'namespace_ancestors.namespace_id')
                  .select('ancestor_id')
                  .where('projects.id', '=', scope.project_id!),
              ),
            ]
          : []),
        ...(given('group_id')
          ? [
              eb('group_id', 'in', (eb) =>
                eb.selectFrom('namespace_ancestors').select('ancestor_id').where('namespace_id', '=', scope.group_id!),
              ),
            ]
          : []),
      ]),
    )
    .orderBy('id'),
)

/** Hooks of the instance, of the project or group, and of all ancestor groups. */
export const hooksAt = async (db: Db, { project_id, group_id }: ScopeColumns): Promise<Hook[]> =>
  inScope(db, { project_id, group_id })

/** Ids of the projects whose events a hook receives. */
export const projectsAt = (db: Db, { project_id, group_id }: ScopeColumns) =>
  db
    .selectFrom('projects')
    .select('id')
    .$if(project_id !== null, (q) => q.where('id', '=', project_id!))
    .$if(group_id !== null, (q) => q.where('namespace_id', 'in', treeOf(db, group_id!)))

/** The published events in the scope of a hook. */
export const eventsAt = (db: Db, scope: ScopeColumns) =>
  db
    .selectFrom('events')
    .where('position', 'is not', null)
    .$if(scope.project_id !== null, (q) => q.where('project_id', '=', scope.project_id!))
    .$if(scope.group_id !== null, (q) =>
      q.where((eb) =>
        eb.or([eb('project_id', 'in', projectsAt(db, scope)), eb('group_id', 'in', treeOf(db, scope.group_id!))]),
      ),
    )
