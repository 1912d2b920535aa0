/** The milestones of a group. */
import type { Listed } from '../../../api.ts'
import { Button, Folded, Form } from '../../../components/Form.tsx'
import { deletedItemActions } from '../../../components/DeletedItems.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { MilestoneFields, MilestoneList, milestoneOf, stateIn, type Counted } from '../../../components/Milestones.tsx'
import { groupFrame, type InGroup } from '../../../layout/group.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  milestones: Listed<Counted[]>
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  load: ({ api, params, query }) => {
    const id = params.id!
    const count = (milestone: string) =>
      api
        .maybe('/groups/{id}/issues_statistics', { id, milestone, scope: 'all' })
        .then((found) => found?.statistics.counts ?? null)
    const list = api.list('/groups/{id}/milestones', {
      id,
      state: stateIn(query),
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
  actions: {
    restore: deletedItemActions('/groups/{id}').restore,
    async create({ api, params, form }) {
      await api.post('/groups/{id}/milestones', { id: params.id!, ...milestoneOf(form) })
    },
  },
  View: ({ milestones, group }) => (
    <>
      <h1>{common.milestones}</h1>
      {group.can.plan && (
        <Folded action="create">
          <summary class="button" data-kind="main">
            <Icon name="plus" /> {t.newMilestone}
          </summary>
          <Form action="create" class="narrow" resets>
            <MilestoneFields />
            <Button kind="main">{t.createMilestone}</Button>
          </Form>
        </Folded>
      )}
      <MilestoneList milestones={milestones} />
    </>
  ),
})
