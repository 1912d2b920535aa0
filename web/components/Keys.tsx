/** The keyboard shortcuts of every page (`web/keys.ts`), and of long texts. */
import * as common from '../texts/common.ts'
import * as t from '../texts/help.ts'

const KEYS = [
  ['/', common.search],
  ['?', common.help],
  ['g h', common.home],
  ['g t', common.toDoList],
  ['g i', common.myIssues],
  ['g m', common.myMergeRequests],
  ['t', t.findFileInProject],
  [t.ctrlEnter, t.submitForm],
] as const

export const Keys = () => (
  <table>
    <tbody>
      {KEYS.map(([keys, text]) => (
        <tr key={keys}>
          <th scope="row">
            <kbd>{keys}</kbd>
          </th>
          <td>{text}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
