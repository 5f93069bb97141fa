// SPDX-License-Identifier: Apache-2.0

@main
enum Main {
    // One call and no closure: inside `main` a closure passed to C would be taken for the main actor's, and trap when
    // another thread calls it.
    static func main() { Program.start() }
}
