/** The keyboard shortcuts of every page (`web/keys.ts`), and of long texts. */
const KEYS = [
  ['/', 'Search'],
  ['?', 'Help'],
  ['g h', 'Home'],
  ['g t', 'To-do list'],
  ['g i', 'My issues'],
  ['g m', 'My merge requests'],
  ['t', 'Find a file in a project'],
  ['Ctrl Enter', 'Submit the form'],
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
