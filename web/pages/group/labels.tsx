/** The labels of a group, for all projects below it. */
import type { Listed, Records } from '../../api.ts'
import { deletedItemActions, deletedItemFlash } from '../../components/DeletedItems.tsx'
import { LabelList, labelOf } from '../../components/LabelList.tsx'
import { belowGroup, groupFrame, type InGroup } from '../../layout/group.tsx'
import { page as declare, text } from '../../page.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/planning.ts'

interface Data {
  labels: Listed<Records['Label'][]>
}

const LABEL = '/groups/{id}/labels/{label_id}'

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  load: ({ api, params, query }) => ({
    labels: api.list('/groups/{id}/labels', {
      id: params.id!,
      with_counts: true,
      per_page: 50,
      page: Number(query.get('page')) || 1,
    }),
  }),
  title: () => common.labels,
  actions: {
    async create({ api, params, form }) {
      await api.post('/groups/{id}/labels', { id: params.id!, ...labelOf(form) })
    },
    async change({ api, params, form }) {
      const { name, ...rest } = labelOf(form)
      await api.put(LABEL, { id: params.id!, label_id: text(form, 'label_id'), new_name: name, ...rest })
    },
    async destroy(act) {
      const at = { id: act.params.id!, label_id: text(act.form, 'label_id') }
      const { name: title } = await act.api.get(LABEL, at)
      await act.api.delete(LABEL, at)
      return deletedItemFlash(act, '/groups/{id}', { kind: 'label', title }, t.labelDeleted(title))
    },
    restore: deletedItemActions('/groups/{id}').restore,
  },
  View: ({ group, labels }) => (
    <>
      <h1>{common.labels}</h1>
      <LabelList
        labels={labels}
        mayPlan={group.can.plan}
        hrefOf={({ name }) => belowGroup(group, `issues?label_name[]=${encodeURIComponent(name)}`)}
        isOwn={() => true}
      />
    </>
  ),
})
