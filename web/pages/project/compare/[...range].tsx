/** A comparison by its URL: `main...topic` since the merge base, `main..topic` directly. */
import { looksOf } from '../../../components/DiffTools.tsx'
import { loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { missing } from '../../../refs.ts'
import { CompareForm } from '../../../components/CompareForm.tsx'
import { Comparison, loadComparison, type Compared } from './Comparison.tsx'
import * as common from '../../../texts/common.ts'

interface Data {
  refs: Refs
  compared: Compared
}

const RANGE = /^(.+?)(\.{2,3})(.+)$/

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const [, from, dots, to] = RANGE.exec(params.range!) ?? []
    if (!from || !to) throw missing()
    const input = { from, to, straight: dots === '..', only: Number(query.get('only')) || 0, looks: looksOf(query) }
    return {
      refs: loadRefs(api, params.id!),
      compared: loadComparison(api, params.id!, input).then((found) => {
        if (!found) throw missing()
        return found
      }),
    }
  },
  title: ({ compared }) => `${compared.from}...${compared.to}`,
  View: ({ project, refs, compared, address, query }) => {
    return (
      <>
        <h1>{common.compare}</h1>
        <CompareForm project={project} refs={refs} from={compared.from} to={compared.to} />
        <Comparison project={project} of={compared} address={address} query={query} />
      </>
    )
  },
})
