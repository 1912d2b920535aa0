import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageInput, pageRequest } from '../../../api/pages.ts'
import { blankable, entity, int, timestampOut } from '../../../api/wire.ts'
import { Guest, VISIBILITIES } from '../../../lib/levels.ts'
import { levelsInGroups } from '../../access/authorizations/queries.ts'
import { presentedAccessToken } from '../../identity/tokens/queries.ts'
import { listProjects } from '../../projects/lists/lists.ts'
import { loadProjects } from '../../projects/projects/load.ts'
import { listGroups } from '../groups/lists.ts'

const GroupAssociation = entity({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  parent_id: z.int().nullable(),
  visibility: z.enum(VISIBILITIES),
  access_levels: z.int(),
})

const ProjectAssociation = entity({
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: timestampOut,
  visibility: z.enum(VISIBILITIES),
  web_url: z.string(),
  access_levels: entity({
    project_access_level: z.int().nullable(),
    group_access_level: z.int().nullable(),
  }),
})

const Associations = entity({ groups: z.array(GroupAssociation), projects: z.array(ProjectAssociation) }).meta({
  id: 'TokenAssociations',
})

/** Lists only memberships, without everything public. Both lists are paginated. */
export const get = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self/associations',
  summary: 'List the groups and projects that the token of this request reaches',
  allow: 'signed_in',
  input: z.object({ min_access_level: blankable(int), ...pageInput.shape }),
  output: Associations,
  async handle({ app, viewer, caller, input }) {
    await presentedAccessToken(app.db, caller)
    const page = pageRequest(input)
    const min_access_level = input.min_access_level ?? Guest
    const [groups, projects] = await Promise.all([
      listGroups(app, viewer, { min_access_level }, page),
      listProjects(app, viewer, { min_access_level }, page),
    ])
    const [levels, loaded] = await Promise.all([
      levelsInGroups(
        app.db,
        viewer,
        groups.items.map(({ id }) => id),
      ),
      loadProjects(app.db, viewer, projects.items),
    ])
    return {
      groups: groups.items.map(({ id, name, full_path, parent_id, visibility }) => ({
        id,
        web_url: `${app.url}/groups/${full_path}`,
        name,
        parent_id,
        visibility,
        access_levels: levels(id),
      })),
      projects: loaded.map(({ project, namespace, memberOfProject, memberOfGroup }) => ({
        id: project.id,
        description: project.description,
        name: project.name,
        path: project.path,
        path_with_namespace: `${namespace.full_path}/${project.path}`,
        created_at: project.created_at,
        visibility: project.visibility,
        web_url: `${app.url}/${namespace.full_path}/${project.path}`,
        access_levels: {
          project_access_level: memberOfProject?.access_level ?? null,
          group_access_level: memberOfGroup?.access_level ?? null,
        },
      })),
    }
  },
})
