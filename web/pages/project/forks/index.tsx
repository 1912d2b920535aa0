/** The forks of a project, and the project it was forked from. */
import type { Listed, Records } from '../../../api.ts'
import { Avatar } from '../../../components/Avatar.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Visibility } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/projects.ts'

interface Data {
  forks: Listed<Records['Project'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    forks: api.list('/projects/{id}/forks', {
      id: params.id!,
      search: query.get('search') || null,
      order_by: 'last_activity_at',
      page: Number(query.get('page')) || 1,
      per_page: 30,
    }),
  }),
  title: () => common.forks,
  View: ({ project, forks, me }) => {
    const source = project.forked_from_project
    return (
      <>
        <div class="head">
          <h1>
            {common.forks} {forks.total !== null && <span class="count">{forks.total}</span>}
          </h1>
          {me && (
            <a class="button" data-kind="main" href={below(project, 'forks/new')}>
              <Icon name="fork" /> {t.fork}
            </a>
          )}
        </div>
        {source && (
          <p>
            <Icon name="fork" />{' '}
            {rich(t.forkedFromNameWithNamespace, {
              nameWithNamespace: <a href={`/${source.path_with_namespace}`}>{source.name_with_namespace}</a>,
            })}
          </p>
        )}
        {forks.items.length === 0 ? (
          <Empty title={t.noForksYet}>
            <p>{t.forkProjectToMakeChanges}</p>
          </Empty>
        ) : (
          <Rows label={common.forks}>
            {forks.items.map((fork) => (
              <Row
                key={fork.id}
                lead={<Avatar of={fork} size={32} />}
                title={
                  <span class="row">
                    <a href={`/${fork.path_with_namespace}`}>{fork.name_with_namespace}</a>
                    {fork.visibility && <Visibility of={fork.visibility} />}
                  </span>
                }
                facts={rich(t.descriptionUpdatedTime, {
                  description: fork.description,
                  time: <Time at={fork.last_activity_at} />,
                })}
                aside={
                  <>
                    <span>
                      <Icon name="star" /> {fork.star_count}
                    </span>
                    <span>
                      <Icon name="fork" /> {fork.forks_count}
                    </span>
                  </>
                }
              />
            ))}
          </Rows>
        )}
        <Pages of={forks} />
      </>
    )
  },
})
