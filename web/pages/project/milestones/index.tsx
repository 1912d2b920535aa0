/** The milestones of a project. */
import type { Listed } from '../../../api.ts'
import { deletedItemActions } from '../../../components/DeletedItems.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { MilestoneList, stateIn, type Counted } from '../../../components/Milestones.tsx'
import { PlanningTabs } from '../../../layout/planning.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  milestones: Listed<Counted[]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => {
    const id = params.id!
    const count = (milestone: string) =>
      api.maybe('/projects/{id}/issues_statistics', { id, milestone }).then((found) => found?.statistics.counts ?? null)
    const list = api.list('/projects/{id}/milestones', {
      id,
      state: stateIn(query),
      include_ancestors: true,
      per_page: 20,
      page: Number(query.get('page')) || 1,
    })
    return {
      milestones: list.then(async (found) => ({
        ...found,
        items: await Promise.all(found.items.map(async (one) => ({ ...one, counts: await count(one.title) }))),
      })),
    }
  },
  title: () => common.milestones,
  actions: { restore: deletedItemActions('/projects/{id}').restore },
  View: ({ project, milestones }) => (
    <>
      <PlanningTabs project={project} at="milestones" />
      <div class="head">
        <h1>{common.milestones}</h1>
        {project.can.plan && (
          <a class="button" data-kind="main" href={below(project, 'milestones/new')}>
            <Icon name="plus" /> {t.newMilestone}
          </a>
        )}
      </div>
      <MilestoneList milestones={milestones} />
    </>
  ),
})
