/** The labels of a project. */
import type { Listed, Records } from '../../../api.ts'
import { deletedItemActions, deletedItemFlash } from '../../../components/DeletedItems.tsx'
import { LabelList, labelOf } from '../../../components/LabelList.tsx'
import { PlanningTabs } from '../../../layout/planning.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  labels: Listed<Records['Label'][]>
}

const LABEL = '/projects/{id}/labels/{label_id}'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    labels: api.list('/projects/{id}/labels', {
      id: params.id!,
      with_counts: true,
      per_page: 50,
      page: Number(query.get('page')) || 1,
    }),
  }),
  title: () => common.labels,
  actions: {
    async create({ api, params, form }) {
      await api.post('/projects/{id}/labels', { id: params.id!, ...labelOf(form) })
    },
    async change({ api, params, form }) {
      const { name, ...rest } = labelOf(form)
      await api.put(LABEL, { id: params.id!, label_id: text(form, 'label_id'), new_name: name, ...rest })
    },
    async destroy(act) {
      const at = { id: act.params.id!, label_id: text(act.form, 'label_id') }
      const { name: title } = await act.api.get(LABEL, at)
      await act.api.delete(LABEL, at)
      return deletedItemFlash(act, '/projects/{id}', { kind: 'label', title }, t.labelDeleted(title))
    },
    restore: deletedItemActions('/projects/{id}').restore,
  },
  View: ({ project, labels }) => (
    <>
      <PlanningTabs project={project} at="labels" />
      <h1>{common.labels}</h1>
      <LabelList
        labels={labels}
        mayPlan={project.can.plan}
        hrefOf={({ name }) => below(project, `issues?label_name[]=${encodeURIComponent(name)}`)}
        isOwn={(label) => label.is_project_label !== false}
      />
    </>
  ),
})
