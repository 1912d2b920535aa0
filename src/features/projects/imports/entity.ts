import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { presentSimpleProject, type Addresses, type ProjectInNamespace } from '../projects/entity.ts'
import { IMPORT_STATUSES } from '../projects/model.ts'

export const ImportEntity = entity({
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: timestampOut,
  import_status: z.enum(IMPORT_STATUSES),
  import_type: z.enum(['git', 'fork']).nullable(),
  import_error: z.string().nullable().optional(),
  correlation_id: z.string().nullable(),
  failed_relations: z.array(z.never()),
  /** Percentage of received objects. Null while unknown. */
  stats: entity({ progress: z.int() }).nullable(),
}).meta({ id: 'Import' })

/** `withError` for callers who administer the project. */
export function presentImport(
  located: ProjectInNamespace,
  at: Addresses,
  withError: boolean,
): z.infer<typeof ImportEntity> {
  const { project } = located
  const shown = presentSimpleProject(located, at)
  return {
    id: shown.id,
    description: shown.description,
    name: shown.name,
    name_with_namespace: shown.name_with_namespace,
    path: shown.path,
    path_with_namespace: shown.path_with_namespace,
    created_at: shown.created_at,
    import_status: project.import_status,
    import_type: project.import_status === 'none' ? null : project.import_url === null ? 'fork' : 'git',
    ...(withError && { import_error: project.import_error }),
    correlation_id: null,
    failed_relations: [],
    stats: project.import_progress === null ? null : { progress: project.import_progress },
  }
}
