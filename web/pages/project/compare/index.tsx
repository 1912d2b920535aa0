/** The form to compare two branches, tags or commits. */
import { looksOf } from '../../../components/DiffTools.tsx'
import { loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Empty } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { CompareForm } from '../../../components/CompareForm.tsx'
import { Comparison, loadComparison, type Compared } from './Comparison.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  refs: Refs
  compared: Compared | null
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const [from, to] = [query.get('from'), query.get('to')]
    const input = { straight: query.has('straight'), only: Number(query.get('only')) || 0, looks: looksOf(query) }
    return {
      refs: loadRefs(api, params.id!),
      compared: from && to ? loadComparison(api, params.id!, { from, to, ...input }) : null,
    }
  },
  title: () => common.compare,
  View: ({ project, refs, compared, address, query }) => {
    const [from, to] = [query.get('from'), query.get('to')]
    return (
      <>
        <h1>{common.compare}</h1>
        <CompareForm project={project} refs={refs} {...(from && { from })} {...(to && { to })} />
        {compared ? (
          <Comparison project={project} of={compared} address={address} query={query} />
        ) : from && to ? (
          <Empty title={t.unknownBranchTagOrCommit} />
        ) : (
          <Empty title={t.compareRevisions}>
            <p>{t.selectBranchesTagsOrCommits}</p>
          </Empty>
        )}
      </>
    )
  },
})
