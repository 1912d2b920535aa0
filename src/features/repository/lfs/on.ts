import { on } from '../../../context.ts'
import { mayCopy } from '../../projects/forks/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { copyLfsLinks } from './service.ts'

/** A fork needs the objects that the commits of its source point to. */
export const linkObjectsOfSource = on('project.created', 'objects of the source', async (app, { id }) => {
  const project = await findProjectById(app.db, id)
  if (project?.forked_from_id && (await mayCopy(app, project, project.forked_from_id))) {
    await copyLfsLinks(app, project.forked_from_id, id)
  }
})
