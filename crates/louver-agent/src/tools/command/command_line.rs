use crate::tools::refusal::{Refusal, quote};

/// Splits a command line into words the way a shell does, without being one.
///
/// Quotes and backslashes work. Whatever a shell would act on (pipes, several commands, redirections, variables,
/// wildcards) is refused rather than passed on as text, since that is not what was meant.
pub(crate) fn split(text: &str) -> Result<Vec<String>, Refusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => single_quoted(&mut characters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut characters, word.get_or_insert_default())?,
            '\\' => match characters.next() {
                Some(escaped) if !escaped.is_control() => word.get_or_insert_default().push(escaped),
                _ => return Err(Refusal::new("the command has a backslash with nothing to escape behind it")),
            },
            ' ' | '\t' => words.extend(word.take()),
            '#' if word.is_none() => return Err(shell(character)),
            ';' | '|' | '&' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '\n' | '\r' => {
                return Err(shell(character));
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Ok(words)
}

fn single_quoted(characters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), Refusal> {
    for character in characters {
        if character == '\'' {
            return Ok(());
        }
        word.push(character);
    }
    Err(unclosed('\''))
}

fn double_quoted(characters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), Refusal> {
    while let Some(character) = characters.next() {
        match character {
            '"' => return Ok(()),
            '$' | '`' => return Err(shell(character)),
            '\\' => match characters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => return Err(unclosed('"')),
            },
            _ => word.push(character),
        }
    }
    Err(unclosed('"'))
}

fn shell(character: char) -> Refusal {
    let character = quote(&character.to_string());
    Refusal::new(format!(
        "the command has {character} in it, which only a shell would understand, and there is no shell; run one program \
         per call, and put what is meant literally in single quotes or in args"
    ))
}

fn unclosed(mark: char) -> Refusal {
    Refusal::new(format!("the command has a {mark} that is never closed"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text).unwrap_or_else(|refusal| panic!("{text}: {}", refusal.reason()))
    }

    #[test]
    fn words_are_split_and_quotes_hold_them_together() {
        assert_eq!(words("cargo test --lib"), ["cargo", "test", "--lib"]);
        assert_eq!(words(r#"  git commit -m "a 'b' \"c\" \n" "#), ["git", "commit", "-m", r#"a 'b' "c" \n"#]);
        assert_eq!(words(r"grep -e 'a;b|c$(d)`e`*' x"), ["grep", "-e", "a;b|c$(d)`e`*", "x"]);
        assert_eq!(words(r"a\ b\;c ''"), ["a b;c", ""]);
        assert_eq!(words("a#b x'y'\"z\""), ["a#b", "xyz"]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn what_only_a_shell_would_understand_is_refused() {
        let commands = [
            "ls; rm -rf x",
            "ls && rm x",
            "ls | sh",
            "ls > x",
            "cat < x",
            "echo $(rm x)",
            "echo `rm x`",
            "echo $HOME",
            "echo \"$(rm x)\"",
            "echo \"`rm x`\"",
            "ls\nrm x",
            "ls\r\nrm x",
            "rm *",
            "ls &",
            "(ls)",
            "ls # x",
            "ls a?",
        ];
        for command in commands {
            let refused = split(command);
            assert!(refused.is_err_and(|refusal| refusal.reason().contains("no shell")), "{command}");
        }
    }

    #[test]
    fn what_is_never_closed_is_refused() {
        for command in ["echo 'a", "echo \"a", "echo \"a\\", "echo a\\", "echo a\\\n"] {
            assert!(split(command).is_err(), "{command}");
        }
    }

    proptest! {
        #[test]
        fn single_quotes_bring_any_words_through(given in prop::collection::vec("[^'\0]{0,8}", 0..6)) {
            let line: Vec<String> = given.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(words(&line.join(" ")), given);
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = split(&text);
        }
    }
}
