/** Contributors by number of commits. */
import type { Listed, Records } from '../../../api.ts'
import { Avatar } from '../../../components/Avatar.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { locationAddress } from '../../../refs.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  people: Listed<Records['Contributor'][]>
  refs: Refs
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    people: api.list('/projects/{id}/repository/contributors', {
      id: params.id!,
      ref: params.ref!,
      order_by: 'commits',
      sort: 'desc',
      page: Number(query.get('page')) || 1,
      per_page: 50,
    }),
    refs: loadRefs(api, params.id!),
  }),
  title: () => t.contributors,
  View: ({ project, people, refs, params }) => {
    const ref = params.ref!
    const most = Math.max(...people.items.map(({ commits }) => commits), 1)
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="graphs" />
          <h1 class="crumbs">
            {t.contributors} {people.total !== null && <span class="count">{people.total}</span>}
          </h1>
        </div>
        {people.items.length === 0 && <Empty title={t.noContributorsYet} />}
        <Rows label={t.contributors}>
          {people.items.map((person) => (
            <Row
              key={person.email}
              lead={<Avatar of={person} size={32} />}
              title={
                <a href={`${locationAddress(project, 'commits', ref)}?author=${encodeURIComponent(person.email)}`}>
                  {person.name}
                </a>
              }
              facts={<>{t.commitsAndEmail(person.commits, person.email)}</>}
              aside={<meter value={person.commits} max={most} aria-label={t.commitsByName(person.name)} />}
            />
          ))}
        </Rows>
        <Pages of={people} />
      </>
    )
  },
})
