/** A folder or a file of a source tree. */
export interface TreeNode {
  /** A segment of the path; an empty one is the root of an absolute path. */
  readonly name: string;
  /** Present for a file: its complete path, as in the compiler input. */
  readonly path?: string;
  readonly children: readonly TreeNode[];
}

interface Growing {
  readonly name: string;
  path?: string;
  readonly children: Map<string, Growing>;
}

const LONGEST = 1_000;

/**
 * Builds the tree of source paths. Paths are data: they are split at slashes without further interpretation,
 * so `..` and an empty segment are folders with odd names. Folders with a single child are merged with it.
 */
export function buildFileTree(paths: readonly string[]): TreeNode[] {
  const root: Growing = { name: '', children: new Map() };
  for (const path of paths) {
    let node = root;
    // Older records may contain paths of any length; those are not split into folders.
    const parts = path.length > LONGEST ? [path] : path.split('/');
    for (const [index, part] of parts.entries()) {
      // A file and a folder may have the same name: `a` and `a/b` are both possible.
      const isFile = index === parts.length - 1;
      const key = `${isFile ? 'f' : 'd'}${part}`;
      const child: Growing = node.children.get(key) ?? { name: part, children: new Map() };
      node.children.set(key, child);
      node = child;
    }
    node.path = path;
  }
  return freeze(root);
}

function freeze({ children }: Growing): TreeNode[] {
  return [...children.values()].map((child) => {
    let node = child;
    let { name } = child;
    for (;;) {
      const [only, another] = node.children.values();
      if (node.path !== undefined || only === undefined || another !== undefined) break;
      if (only.path !== undefined) break;
      name = `${name}/${only.name}`;
      node = only;
    }
    return {
      name,
      ...(node.path !== undefined && { path: node.path }),
      children: freeze(node),
    };
  });
}
