/** Activity in the viewer's projects. */
import type { Api, Listed, Records } from '../../../api.ts'
import { Activity, filterOf, type ProjectPaths } from '../../../components/Activity.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'

interface Data {
  events: Listed<Records['Event'][]>
  projectPaths: ProjectPaths
}

/** A page has few projects; each is loaded once. */
async function projectPathsOf(api: Api, events: readonly Records['Event'][]): Promise<ProjectPaths> {
  const ids = [...new Set(events.map(({ project_id }) => project_id))]
  const projects = await Promise.all(ids.map((id) => api.maybe('/projects/{id}', { id })))
  return Object.fromEntries(projects.flatMap((one) => (one ? [[one.id, one.path_with_namespace]] : [])))
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => {
    const events = api.list('/events', { scope: 'all', ...filterOf(query) })
    return { events, projectPaths: events.then(({ items }) => projectPathsOf(api, items)) }
  },
  title: () => common.activity,
  View: ({ events, projectPaths }) => (
    <>
      <h1>{common.activity}</h1>
      <Activity events={events} projectPaths={projectPaths} />
    </>
  ),
})
